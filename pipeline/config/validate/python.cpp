#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include <brigade/tensor.h>
#include "base/json.h"
#include "base/units.h"
#include "pipeline/config/graph/exec_params.h"
#include "pipeline/config/graph/stage_describer.h"
#include "pipeline/config/validate/draft.h"
#include "stages/detail/exec_stage.h"

namespace brigade {

namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view kModule = "brigade._replica";  // of the Python package
constexpr std::chrono::seconds kImportTimeout{60};

/// `params:`, of which these are the stage's; all others are the function's.
class PythonParams {
 public:
  PythonParams(Validation& validation, Draft& draft) : v(validation), draft_(draft) {}

  /// The command of a replica; false: that was said.
  bool run() {
    const YamlNode* const call = find("call");
    if (call == nullptr || !call->is_scalar() || call->text.empty())
      return wrong(call, type_span(draft_), "`params.call` is missing: it names the function",
                   "write `params: {call: \"augment.py:flip\"}` or `module:name`");
    PythonStage& python = draft_.python.emplace();
    python.call = call->span;
    const std::size_t colon = call->text.rfind(':');
    if (colon == 0 || colon == call->text.npos || colon + 1 == call->text.size())
      return wrong(call, python.call,
                   concat("`params.call`: expected FILE:NAME, found ", quote(call->text)),
                   "write FILE.py:NAME or MODULE:NAME, of a function or a class");
    const std::string module = call->text.substr(0, colon);
    const bool is_file = module.find('/') != module.npos || module.ends_with(".py");
    python.target = {is_file ? absolute_path(v, module, call->origin) : module,
                     call->text.substr(colon + 1)};
    draft_.stage.exec_folder = absolute_path(v, ".", call->origin);
    return (!is_file || check_file(python)) && take_timeout(python) && find_interpreter(python);
  }

 private:
  const YamlNode* find(std::string_view name) const {
    const auto& params = draft_.spec->params;
    const YamlEntry* const entry = params ? params->value.find(name) : nullptr;
    return entry == nullptr ? nullptr : &entry->value;
  }

  bool wrong(const YamlNode* node, const Span& otherwise, std::string_view message,
             std::string help) {
    v.error(draft_, node == nullptr ? otherwise : node->span, message, {std::move(help)});
    return false;
  }

  bool check_file(const PythonStage& python) {
    const std::string& file = python.target.front();
    if (v.context.metadata.kind(file) == PathKind::file) return true;
    return wrong(nullptr, python.call, concat("`params.call`: there is no file ", file),
                 "relative paths are relative to the file that contains them");
  }

  bool take_timeout(PythonStage& python) {
    python.timeout = kImportTimeout;
    const YamlNode* const node = find("import_timeout");
    if (node == nullptr) return true;
    const auto given = parse_duration(node->text);
    if (!given || given->count() <= 0)
      return wrong(node, python.call, "`params.import_timeout`: expected a duration",
                   "for example `60s`");
    python.timeout = *given;
    return true;
  }

  bool find_interpreter(const PythonStage& python) {
    const YamlNode* const node = find("python");
    const std::string written =
        node != nullptr ? node->text
                        : (v.context.describer ? v.context.describer->python() : "python3");
    const std::string path = written.find('/') == written.npos
                                 ? v.context.metadata.find_program(written).value_or("")
                                 : absolute_path(v, written, node == nullptr ? -1 : node->origin);
    if (path.empty() || !v.context.metadata.may_execute(path))
      return wrong(node, python.call, concat("there is no Python interpreter ", quote(written)),
                   "`params: {python: PATH}` names an interpreter with the package `brigade`");
    if (v.context.describer != nullptr) add_python_path(v.context.describer->python_path());
    draft_.stage.exec = {path, "-m", std::string(kModule), python.target[0], python.target[1]};
    return true;
  }

  void add_python_path(const std::string& path) {
    auto& env = draft_.stage.env;
    const bool given = std::any_of(env.begin(), env.end(),
                                   [](const auto& one) { return one.first == "PYTHONPATH"; });
    if (!path.empty() && !given) env.emplace_back("PYTHONPATH", path);
  }

  Validation& v;
  Draft& draft_;
};

/// For people; a path that is no UTF-8 comes to its replica in the command, as it is.
std::string as_json(const Json& value) {
  return value.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Json size_of(const Dim& dim) {
  if (dim.kind == Dim::Kind::up_to) return concat("<=", dim.size);
  return dim.size;
}

Json tensors_of(const Ports& ports) {
  auto tensors = Json::array();
  for (const TensorType& tensor : ports.tensors) {
    auto shape = Json::array();
    for (const Dim& dim : tensor.shape) shape.push_back(size_of(dim));
    tensors.push_back({tensor.name, dtype_name(tensor.dtype), std::move(shape)});
  }
  return tensors;
}

/// Of "<=100"; 0 where it is none.
std::int64_t parse_bound(std::string_view text) {
  std::int64_t bound = 0;
  const auto digits = strip_prefix(text, "<=").value_or("");
  std::from_chars(digits.data(), digits.data() + digits.size(), bound);
  return bound;
}

/// What the package's own notation has made; nothing where it is of another version.
std::optional<Ports> ports_of(const Json& tensors) {
  Ports ports;
  for (const Json& tensor : tensors) {
    TensorType type;
    type.name = tensor.at(0).get<std::string>();
    const auto dtype = parse_dtype(tensor.at(1).get<std::string>());
    if (!dtype) return std::nullopt;
    type.dtype = *dtype;
    for (const Json& size : tensor.at(2)) {
      if (size.is_number_integer()) {
        type.shape.emplace_back(size.get<std::int64_t>());
        continue;
      }
      type.shape.push_back(up_to(parse_bound(size.get<std::string>())));
    }
    ports.tensors.push_back(std::move(type));
  }
  return ports;
}

class PythonAnswer {
 public:
  PythonAnswer(Validation& validation, Draft& draft) : v(validation), draft_(draft) {}

  std::optional<Ports> take(const std::vector<Ports>& inputs) {
    if (v.context.describer == nullptr) {
      v.error(draft_, draft_.python->call, "Python stages cannot be checked here");
      return std::nullopt;
    }
    auto answer = v.context.describer->describe(question(inputs));
    if (!answer) {
      say_failure(answer.error().message);
      return std::nullopt;
    }
    const auto read = parse_json<Json>(*answer);
    try {  // the package's answer; a module of the user's may have written there, too
      if (read) return understand(*read);
    } catch (const std::exception&) {
    }
    say_failure("gave an answer that cannot be read; install the same version of its package");
    return std::nullopt;
  }

 private:
  StageQuestion question(const std::vector<Ports>& inputs) const {
    auto types = Json::array();
    for (const Ports& input : inputs) types.push_back(tensors_of(input));
    auto params = Json::object();
    for (const auto& [name, value] : draft_.stage.param_values)
      if (auto read = parse_json<Json>(value.text)) params[name] = std::move(*read);
    const Json text = {{"kind", stage_kind_name(draft_.stage.kind)},
                       {"counted", draft_.stage.count != 0},
                       {"inputs", std::move(types)},
                       {"params", std::move(params)}};
    StageQuestion asked;
    asked.command = draft_.stage.exec;
    asked.command.push_back("--describe");
    asked.folder = draft_.stage.exec_folder;
    asked.env = draft_.stage.env;
    asked.text = as_json(text);
    asked.timeout = draft_.python->timeout;
    return asked;
  }

  void say_failure(const std::string& what) {
    v.error(draft_, draft_.python->call, concat(draft_.stage.exec.front(), " ", what));
  }

  std::optional<Ports> understand(const Json& answer) {
    for (const Json& error : answer.at("errors")) {
      std::vector<std::string> help;
      for (const Json& line : error.at("help")) help.push_back(line.get<std::string>());
      v.error(draft_, place(error.at("at").get<std::string>()),
              error.at("message").get<std::string>(), std::move(help));
    }
    if (!answer.at("errors").empty()) return std::nullopt;
    if (answer.contains("count")) draft_.stage.count = answer.at("count").get<std::uint64_t>();
    draft_.stage.samples = draft_.stage.count;
    draft_.stage.keeps_all = answer.value("keeps_all", false);
    auto ports = ports_of(answer.at("outputs"));
    if (!ports) throw std::runtime_error("a dtype");
    return ports;
  }

  /// Of "call", "from", or the name of a parameter.
  const Span& place(const std::string& at) const {
    if (at == "from" && !draft_.spec->sources.empty()) return draft_.spec->sources.front().span;
    const auto& params = draft_.spec->params;
    const YamlEntry* const entry = at == "call" ? nullptr : params->value.find(at);
    return entry == nullptr ? draft_.python->call : entry->key_span;
  }

  Validation& v;
  Draft& draft_;
};

}  // namespace

bool is_python(const Draft& draft) {
  const StageSpec& spec = *draft.spec;
  return !spec.exec && !spec.fused && !spec.plugin && spec.types.size() == 1 &&
         spec.types.front().name.value == kPythonType;
}

void validate_python(Validation& v, Draft& draft) {
  draft.stage.type = &python_type(draft.stage.kind);
  draft.has_type = true;
  if (!draft.spec->params_broken) draft.python_found = PythonParams(v, draft).run();
}

void make_python_absolute(Draft& draft) {
  if (!draft.python_found) return;
  const auto& target = draft.python->target;
  for (auto& [name, value] : draft.stage.param_values) {
    if (name == "call") value.text = as_json(concat(target[0], ":", target[1]));
    if (name == "python") value.text = as_json(draft.stage.exec.front());
  }
}

std::optional<Ports> describe_python(Validation& v, Draft& draft,
                                     const std::vector<Ports>& inputs) {
  return PythonAnswer(v, draft).take(inputs);
}

}  // namespace brigade
