#include "pipeline/config/validate/passed_tensors.h"

#include <algorithm>

namespace brigade {

namespace {

struct Candidate {
  TensorType type;
  int source = 0;
  std::string full;  // "port.tensor"
};

class Passing {
 public:
  Passing(Validation& validation, Draft& draft)
      : v(validation), draft_(draft), contract_(draft.stage.type->contract) {}

  bool run() {
    const StageSpec& spec = *draft_.spec;
    if (!contract_.rest_passes) return refuse_choice();
    if (spec.keep && spec.drop) {
      const auto& list = spec.drop->empty() ? *spec.keep : *spec.drop;
      v.error(draft_, list.empty() ? spec.name.span : list.front().span,
              "`keep` and `drop` cannot be combined",
              {"`keep` lists the tensors to pass through, `drop` the tensors not to pass through"});
      return false;
    }
    collect();
    if (spec.keep && !choose(*spec.keep, "keep")) return false;
    if (spec.drop && !choose(*spec.drop, "drop")) return false;
    return append();
  }

 private:
  bool refuse_choice() {
    bool good = true;
    for (const auto* list : {&draft_.spec->keep, &draft_.spec->drop}) {
      if (!*list || (*list)->empty()) continue;
      v.error(draft_, (*list)->front().span,
              concat(quote(contract_.type), " passes no tensors through: remove this key"));
      good = false;
    }
    return good;
  }

  void collect() {
    const auto& sources = draft_.stage.sources;
    for (std::size_t i = 0; i < sources.size(); ++i) {
      if (i > 0 && draft_.stage.join == Join::merge) break;  // all bring the same
      for (const TensorType& tensor : sources[i].tensors.tensors) {
        const std::string full = concat(sources[i].port, ".", tensor.name);
        const bool zip = draft_.stage.join == Join::zip;
        if (contract_.names(zip ? full : tensor.name)) continue;
        if (draft_.stage.outputs.find(tensor.name) != nullptr) continue;
        passing_.push_back({tensor, static_cast<int>(i), full});
      }
    }
  }

  bool is_called(const Candidate& candidate, const std::string& name) const {
    return candidate.type.name == name || candidate.full == name;
  }

  bool choose(const std::vector<Marked<std::string>>& names, std::string_view key) {
    bool good = true;
    for (const auto& [name, span] : names) {
      const bool there =
          std::any_of(passing_.begin(), passing_.end(),
                      [&, wanted = name](const auto& c) { return is_called(c, wanted); });
      if (there) continue;
      good = false;
      report(name, span, key);
    }
    std::erase_if(passing_, [&](const Candidate& candidate) {
      const bool listed = std::any_of(names.begin(), names.end(), [&](const auto& name) {
        return is_called(candidate, name.value);
      });
      return listed == (key == "drop");
    });
    return good;
  }

  void report(const std::string& name, const Span& span, std::string_view key) {
    std::vector<std::string> names;
    for (const Candidate& candidate : passing_) names.push_back(candidate.type.name);
    std::vector<std::string> help;
    if (draft_.stage.outputs.find(name) != nullptr) {
      help.push_back(concat(quote(contract_.type), " writes this tensor itself"));
    } else if (contract_.names(name)) {
      help.push_back(concat(quote(contract_.type), " consumes this tensor"));
    } else if (const auto meant = did_you_mean(name, names)) {
      help.push_back(concat("did you mean \"", *meant, "\"?"));
    } else {
      help.push_back(names.empty() ? "this stage passes no tensors through"
                                   : concat("tensors passed through: ", name_list(names)));
    }
    v.error(draft_, span, concat("`", key, "`: no tensor ", quote(name), " to pass through"),
            std::move(help));
  }

  bool append() {
    ValidStage& stage = draft_.stage;
    std::vector<std::string> twice;
    for (Candidate& candidate : passing_) {
      if (stage.outputs.find(candidate.type.name) != nullptr) {
        twice.push_back(candidate.full);
        continue;
      }
      stage.passed.push_back({candidate.type.name, candidate.source});
      stage.outputs.tensors.push_back(std::move(candidate.type));
    }
    if (twice.empty()) return true;
    v.error(draft_, *draft_.spec->from, "two sources have tensors of the same name",
            {concat("remove some of them: `drop: [", join(twice, ", "), "]`")});
    return false;
  }

  Validation& v;
  Draft& draft_;
  const StageContract& contract_;
  std::vector<Candidate> passing_;
};

}  // namespace

bool pass_tensors(Validation& v, Draft& draft) {
  if (draft.stage.kind != StageKind::transform) return true;
  return Passing(v, draft).run();
}

}  // namespace brigade
