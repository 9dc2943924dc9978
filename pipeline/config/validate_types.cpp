#include <algorithm>

#include "pipeline/config/key_table.h"
#include "pipeline/config/validation.h"
#include "stages/api/chain.h"

namespace brigade {

namespace {

std::string all_types(const Validation& v) {
  return concat("`brigade stages` lists all ", v.context.types.all().size());
}

std::optional<std::string> similar_type(const Validation& v, StageKind kind,
                                        std::string_view name) {
  std::vector<std::string> same;
  std::vector<std::string> other;
  for (const StageType& type : v.context.types.all())
    (type.contract.kind == kind ? same : other).push_back(type.contract.type);
  if (auto meant = did_you_mean(name, same)) return meant;
  return did_you_mean(name, other);
}

const StageType* find_type(Validation& v, const Draft& draft, const Marked<std::string>& written) {
  const auto& [name, span] = written;
  const StageKind wanted = *draft.spec->kind;
  const std::string_view kind = stage_kind_name(wanted);
  const StageType* type = v.context.types.find(name);
  if (type == nullptr) {
    const auto meant = similar_type(v, wanted, name);
    v.error(draft, span, concat("unknown ", kind, " ", quote(name)),
            {concat(meant ? concat("did you mean \"", *meant, "\"?  ") : std::string(),
                    all_types(v), ".")});
    return nullptr;
  }
  if (type->contract.kind == wanted) return type;
  const std::string_view is = stage_kind_name(type->contract.kind);
  v.error(draft, span, concat(quote(name), " is a ", is, ", not a ", kind),
          {concat("write `", is, ": ", name, "`")});
  return nullptr;
}

void resolve_chain(Validation& v, Draft& draft) {
  std::vector<const StageType*> links;
  for (const TypeSpec& type : draft.spec->types) links.push_back(find_type(v, draft, type.name));
  if (std::find(links.begin(), links.end(), nullptr) != links.end()) return;
  auto chain = chain_type(std::move(links));
  if (!chain) return v.error(draft, *draft.spec->chain, chain.error().message);
  draft.stage.chain = std::make_shared<const StageType>(std::move(*chain));
  draft.stage.type = draft.stage.chain.get();
  draft.has_type = true;
}

void resolve_type(Validation& v, Draft& draft) {
  const StageSpec& spec = *draft.spec;
  if (spec.kind) draft.stage.kind = *spec.kind;
  if (!spec.kind || spec.broken) return;
  if (spec.chain) return resolve_chain(v, draft);
  if (spec.types.size() != 1) return;
  draft.stage.type = find_type(v, draft, spec.types.front().name);
  draft.has_type = draft.stage.type != nullptr;
}

// What of KeyUsers this stage is. Without a type: all that its kind may be.
std::uint8_t users_of(const Draft& draft) {
  switch (draft.stage.kind) {
    case StageKind::producer:
      if (!draft.has_type) return kProducers;
      return draft.stage.type->indexed ? kIndexedProducers : kStreamProducers;
    case StageKind::transform:
      return kTransforms;
    case StageKind::consumer:
      return kConsumers;
  }
  return kAllStages;
}

std::string users_text(std::uint8_t users) {
  if (users == kIndexedProducers) return "producers that read by index";
  std::vector<std::string_view> names;
  if (users & kProducers) names.push_back("producers");
  if (users & kTransforms) names.push_back("transforms");
  if (users & kConsumers) names.push_back("consumers");
  return join(names, ", ", " and ");
}

void check_users(Validation& v, Draft& draft) {
  for (const auto& [name, span] : draft.spec->keys) {
    const KeySpec& key = *find_key(KeyScope::stage, name);
    if (key.users & users_of(draft)) continue;
    std::vector<std::string> help;
    if (name == "batch")
      help.push_back(
          "the size of a consumer's batches stands on the stage it reads, or in its "
          "source: `from: {stage: NAME, batch: 64}`");
    if (name == "from") help.push_back("a stage that reads others is a transform or a consumer");
    if ((name == "shuffle" || name == "limit") && draft.stage.kind != StageKind::producer)
      help.push_back("write it at the producer");
    const std::string_view kind = stage_kind_name(draft.stage.kind);
    const bool stream = draft.stage.kind == StageKind::producer && key.users == kIndexedProducers;
    v.error(draft, span,
            concat("`", name, "` is for ", users_text(key.users), ", this is ",
                   stream ? "a stream" : concat("a ", kind)),
            std::move(help));
  }
}

std::vector<std::string> key_lines() {
  std::vector<std::string> lines{"a stage may have"};
  for (const std::string_view name : key_names(KeyScope::stage)) {
    if (lines.back().size() + name.size() > 90) lines.emplace_back(" ");
    lines.back() += concat(" ", name);
  }
  return lines;
}

void report_unknown(Validation& v, Draft& draft) {
  for (const auto& [name, span] : draft.spec->unknown_keys) {
    std::vector<std::string> help;
    const StageContract* contract = draft.has_type ? &draft.stage.type->contract : nullptr;
    std::vector<std::string> params;
    if (contract != nullptr)
      for (const ParamSpec& param : contract->params) params.push_back(param.name);
    const auto meant = did_you_mean(name, key_names(KeyScope::stage));
    const auto param = did_you_mean(name, params);
    if (contract != nullptr && contract->find_param(name) != nullptr) {
      help.push_back(
          concat("it is a parameter of ", quote(contract->type), ": write it below `params:`"));
    } else if (meant) {
      help.push_back(concat("did you mean \"", *meant, "\"?"));
    } else if (find_key(KeyScope::top, name) != nullptr) {
      help.push_back(concat("`", name, "` stands at the top level of the file"));
    } else if (param) {
      help.push_back(concat("did you mean \"", *param,
                            "\"?  It is a parameter: write it below "
                            "`params:`"));
    } else {
      help = key_lines();
    }
    v.error(draft, span, concat("unknown key ", quote(name)), std::move(help));
  }
}

}  // namespace

void validate_types(Validation& v) {
  for (Draft& draft : v.drafts) {
    resolve_type(v, draft);
    if (draft.spec->kind && !draft.spec->broken) check_users(v, draft);
    report_unknown(v, draft);
  }
}

}  // namespace brigade
