#include <algorithm>
#include <exception>

#include "pipeline/config/language/spec_reader.h"
#include "pipeline/config/validate/draft.h"
#include "pipeline/config/validate/passed_tensors.h"

namespace brigade {

namespace {

std::string tensors_text(const Ports& ports) {
  std::vector<std::string> texts;
  for (const TensorType& tensor : ports.tensors) texts.push_back(tensor.text());
  return texts.empty() ? "nothing" : name_list(texts, 6);
}

std::vector<std::string> names_of(const Ports& ports) {
  std::vector<std::string> names;
  for (const TensorType& tensor : ports.tensors) names.push_back(tensor.name);
  return names;
}

// Why a tensor does not fit a pattern, in the order in which people look.
std::string misfit(const TensorPattern& pattern, const TensorType& type) {
  const auto& dtypes = pattern.dtypes;
  if (!dtypes.empty() && std::find(dtypes.begin(), dtypes.end(), type.dtype) == dtypes.end())
    return "the dtype differs";
  if (pattern.shape.size() != type.shape.size())
    return concat("it has ", type.shape.size(), " dimensions, expected ", pattern.shape.size());
  for (std::size_t i = 0; i < pattern.shape.size(); ++i) {
    const Dim& want = pattern.shape[i];
    const Dim& has = type.shape[i];
    if (want.kind == Dim::Kind::any || want == has) continue;
    if (want.kind == Dim::Kind::up_to && has.size <= want.size) continue;
    if (want.kind == Dim::Kind::exact && has.kind != Dim::Kind::exact && has.size >= want.size)
      return concat("dimension ", i + 1, " varies from sample to sample, expected ", want.size);
    return concat("dimension ", i + 1, " is ", has.kind == Dim::Kind::exact ? "" : "up to ",
                  has.size, ", expected ", want.kind == Dim::Kind::exact ? "" : "at most ",
                  want.size);
  }
  return "it does not fit";
}

class PortCheck {
 public:
  PortCheck(Validation& validation, Draft& draft)
      : v(validation), draft_(draft), contract_(draft.stage.type->contract) {}

  bool run() {
    if (!draft_.spec->mixed.empty()) return make_mixed_outputs(v, draft_);
    if (draft_.spec->tensors_broken || !arrive()) return false;
    std::vector<Ports> inputs;
    if (draft_.stage.join == Join::zip) {
      inputs.push_back(zipped());
    } else {
      for (const ValidSource& source : draft_.stage.sources) inputs.push_back(source.tensors);
    }
    bool good = draft_.stage.kind == StageKind::consumer || alike(inputs);
    for (std::size_t i = 0; i < inputs.size(); ++i) good = fits(inputs[i], i) && good;
    good = good && (!is_classifier(draft_) || same_inputs(inputs));
    if (!good || !draft_.has_params) return false;
    if (inputs.empty()) inputs.emplace_back();
    if (is_python(draft_) && !ask(inputs)) return false;
    for (const Ports& input : inputs) good = make_outputs(input) && good;
    return good && pass_tensors(v, draft_) && has_any();
  }

 private:
  // Slots of several sources that are merged lie in one ring.
  bool alike(const std::vector<Ports>& inputs) {
    for (std::size_t i = 1; i < inputs.size(); ++i) {
      const auto& first = inputs[0].tensors;
      const bool same = inputs[i].tensors.size() == first.size() &&
                        std::all_of(first.begin(), first.end(), [&](const TensorType& tensor) {
                          const TensorType* other = inputs[i].find(tensor.name);
                          return other != nullptr && *other == tensor;
                        });
      if (same) continue;
      v.error(draft_, spec(i).span,
              concat("`join: merge` needs the same tensors from each source: ", giver(0), " ",
                     tensors_text(inputs[0]), ", ", giver(i), " ", tensors_text(inputs[i])),
              {"add a stage upstream that makes them equal, or read a single tensor with "
               "`stage.tensor`"});
      return false;
    }
    return true;
  }

  // What is learned of one source fits the others.
  bool same_inputs(const std::vector<Ports>& inputs) {
    for (const TensorPattern& pattern : contract_.inputs) {
      for (std::size_t i = 1; i < inputs.size(); ++i) {
        const TensorType& first = *inputs[0].find(pattern.name);
        const TensorType& other = *inputs[i].find(pattern.name);
        if (first.shape == other.shape) continue;
        v.error(draft_, spec(i).span,
                concat(quote(contract_.type), " needs ", quote(pattern.name),
                       " with the same shape from all sources: ", giver(0), " ", first.text(), ", ",
                       giver(i), " ", other.text()),
                {"change the parameters of the upstream stages until the shapes match"});
        return false;
      }
    }
    return true;
  }

  const SourceSpec& spec(std::size_t i) const { return draft_.spec->sources[i]; }

  // What each source brings.
  bool arrive() {
    auto& sources = draft_.stage.sources;
    bool good = true;
    for (std::size_t i = 0; i < sources.size(); ++i) {
      const Draft& writer = v.at(sources[i].stage);
      if (!writer.has_outputs) return false;
      sources[i].tensors = writer.stage.outputs;
      if (sources[i].tensor.empty()) continue;
      const TensorType* only = writer.stage.outputs.find(sources[i].tensor);
      if (only == nullptr) {
        no_such_tensor(i, writer);
        good = false;
      } else {
        sources[i].tensors = Ports{*only};
      }
    }
    return good;
  }

  void no_such_tensor(std::size_t i, const Draft& writer) {
    const std::string& name = draft_.stage.sources[i].tensor;
    std::vector<std::string> help{
        concat(quote(writer.stage.name), " outputs ", tensors_text(writer.stage.outputs))};
    if (const auto meant = did_you_mean(name, names_of(writer.stage.outputs)))
      help.insert(help.begin(), concat("did you mean \"", *meant, "\"?"));
    v.error(draft_, spec(i).span,
            concat("stage ", quote(writer.stage.name), " outputs no tensor ", quote(name)),
            std::move(help));
  }

  Ports zipped() const {
    Ports all;
    for (const ValidSource& source : draft_.stage.sources) {
      for (TensorType tensor : source.tensors.tensors) {
        tensor.name = concat(source.port, ".", tensor.name);
        all.tensors.push_back(std::move(tensor));
      }
    }
    return all;
  }

  std::string giver(std::size_t i) const {
    if (draft_.stage.join == Join::zip) return "the sources output";
    return concat(quote(v.at(draft_.stage.sources[i].stage).stage.name), " outputs");
  }

  bool fits(const Ports& in, std::size_t i) {
    bool good = true;
    for (const TensorPattern& pattern : contract_.inputs) good = fits_one(in, i, pattern) && good;
    for (const auto& group : contract_.one_of) good = fits_group(in, i, group) && good;
    return good;
  }

  bool fits_one(const Ports& in, std::size_t i, const TensorPattern& pattern) {
    const TensorType* type = in.find(pattern.name);
    if (type != nullptr && pattern.accepts(*type)) return true;
    if (type != nullptr) {
      v.error(draft_, spec(i).span,
              concat(quote(contract_.type), " needs ", pattern.text(), ", but ", giver(i), " ",
                     type->text()),
              {misfit(pattern, *type)});
      return false;
    }
    std::vector<std::string> help;
    Span span = spec(i).span;
    if (!explain_port(pattern.name, span, help)) {
      if (const auto meant = did_you_mean(pattern.name, names_of(in)))
        help.push_back(concat("found ", quote(*meant), ", which is a different name"));
    }
    if (!pattern.help.empty()) help.push_back(concat(quote(pattern.name), ": ", pattern.help));
    v.error(draft_, span,
            concat(quote(contract_.type), " needs the tensor ", pattern.text(), ", but ", giver(i),
                   " ", tensors_text(in)),
            std::move(help));
    return false;
  }

  // "left.image" under a zip: the port it needs may have another name here.
  bool explain_port(const std::string& tensor, Span& span, std::vector<std::string>& help) const {
    const std::size_t dot = tensor.find('.');
    if (draft_.stage.join != Join::zip || dot == tensor.npos) return false;
    const std::string port = tensor.substr(0, dot);
    std::vector<std::string> ports;
    for (const ValidSource& source : draft_.stage.sources) ports.push_back(source.port);
    if (std::find(ports.begin(), ports.end(), port) != ports.end()) return false;
    if (const auto meant = did_you_mean(port, ports)) {
      const auto at = std::find(ports.begin(), ports.end(), *meant) - ports.begin();
      const SourceSpec& source = spec(static_cast<std::size_t>(at));
      if (source.port) span = source.port->span;
      help.push_back(concat("did you mean the port ", quote(port), "?"));
    } else {
      help.push_back(concat("`from: {", port, ": STAGE, ...}` names the ports"));
    }
    return true;
  }

  bool fits_group(const Ports& in, std::size_t i, const std::vector<TensorPattern>& group) {
    std::vector<std::string> texts;
    std::vector<std::string> help;
    for (const TensorPattern& pattern : group) {
      const TensorType* type = in.find(pattern.name);
      if (type != nullptr && pattern.accepts(*type)) return true;
      if (type != nullptr) help.push_back(concat(type->text(), ": ", misfit(pattern, *type)));
      texts.push_back(pattern.text());
    }
    v.error(draft_, spec(i).span,
            concat(quote(contract_.type), " needs one of ", join(texts, "; "), ", but ", giver(i),
                   " ", tensors_text(in)),
            std::move(help));
    return false;
  }

  bool has_any() {
    if (draft_.stage.kind == StageKind::consumer || !draft_.stage.outputs.tensors.empty())
      return true;
    v.error(draft_, type_span(draft_), "its output has no tensors, expected at least one");
    return false;
  }

  bool ask(const std::vector<Ports>& inputs) {
    if (!draft_.python_found) return false;
    python_ = describe_python(v, draft_, inputs);
    return python_.has_value();
  }

  // A contract may be a user's own code.
  Result<Ports> call_contract(const Ports& in) const {
    if (python_) return *python_;
    const bool program = contract_.application || draft_.spec->exec;
    if (draft_.spec->tensors && program) return *draft_.spec->tensors;
    if (draft_.spec->exec && draft_.stage.kind == StageKind::producer)
      return Error{"`tensors:` is missing: write `tensors: {NAME: {dtype: f32, shape: [3, 4]}}`"};
    try {
      return contract_.outputs(draft_.stage.params.get(), in, draft_.metadata);
    } catch (const std::exception& failure) {
      return Error{failure.what()};
    }
  }

  bool make_outputs(const Ports& in) {
    auto outputs = call_contract(in);
    if (!outputs) {
      v.error(draft_, type_span(draft_), one_line(outputs.error().message));
      return false;
    }
    if (draft_.stage.kind == StageKind::consumer) return true;
    if (const auto wrong = what_is_wrong(*outputs); !wrong.empty()) {
      v.error(draft_, type_span(draft_),
              concat("the output of ", quote(contract_.type), " ", wrong));
      return false;
    }
    draft_.stage.outputs = std::move(*outputs);
    place_on_device(draft_);
    return true;
  }

  static std::string one_line(std::string text) {
    std::replace(text.begin(), text.end(), '\n', ' ');
    return text;
  }

  // What no buffer could hold, whatever the parameters led to it.
  static std::string what_is_wrong(const Ports& ports) {
    constexpr std::uint64_t kBytesMax = 1ull << 46;
    for (std::size_t i = 0; i < ports.tensors.size(); ++i) {
      const TensorType& tensor = ports.tensors[i];
      if (!is_name(tensor.name))
        return concat("has a tensor with the invalid name ", quote(tensor.name));
      for (std::size_t j = 0; j < i; ++j)
        if (ports.tensors[j].name == tensor.name)
          return concat("has two tensors with the name ", quote(tensor.name));
      if (tensor.shape.size() >= static_cast<std::size_t>(kRankMax))
        return concat("has ", tensor.shape.size(), " dimensions, expected at most ", kRankMax - 1);
      for (const Dim& dim : tensor.shape)
        if (dim.kind == Dim::Kind::any || dim.size < 1)
          return concat("would be ", tensor.text(), ": each dimension must be at least 1");
      if (tensor.bytes_max() > kBytesMax)
        return concat("would be ", tensor.text(), ": expected less than 64 TiB");
    }
    return "";
  }

  Validation& v;
  Draft& draft_;
  const StageContract& contract_;
  std::optional<Ports> python_;  ///< what a Python stage writes
};

}  // namespace

void validate_ports(Validation& v) {
  for (const StageNumber index : v.order) {
    Draft& draft = v.at(index);
    if (draft.has_type && draft.has_sources) draft.has_outputs = PortCheck(v, draft).run();
  }
}

}  // namespace brigade
