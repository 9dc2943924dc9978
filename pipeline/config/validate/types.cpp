#include <algorithm>

#include "pipeline/config/graph/valid_graph.h"
#include "pipeline/config/language/key_table.h"
#include "pipeline/config/language/other_keys.h"
#include "pipeline/config/language/subset_parser.h"
#include "pipeline/config/validate/draft.h"
#include "stages/api/other_names.h"
#include "stages/detail/exec_stage.h"
#include "stages/detail/fused_stage.h"
#include "stages/detail/mix_type.h"

namespace brigade {

namespace {

constexpr std::string_view kAllTypes = "`brigade stages` lists all";

std::optional<std::string> similar_type(const Validation& v, StageKind kind,
                                        std::string_view name) {
  std::vector<std::string> same = {std::string(kPythonType)};
  std::vector<std::string> other;
  for (const StageType& type : v.context.types.all())
    (type.contract.kind == kind ? same : other).push_back(type.contract.type);
  if (auto meant = did_you_mean(name, same)) return meant;
  return did_you_mean(name, other);
}

// "it has jitter (transform)".
std::string content_text(const StageTypes& types) {
  std::vector<std::string> names;
  for (const StageType& type : types.all())
    names.push_back(concat(type.contract.type, " (", stage_kind_name(type.contract.kind), ")"));
  return names.empty() ? "the plugin has no stage types"
                       : concat("its stage types are ", name_list(names));
}

void report_unknown_type(Validation& v, const Draft& draft, const Marked<std::string>& written) {
  const std::string_view kind = stage_kind_name(*draft.spec->kind);
  const auto& [name, span] = written;
  if (draft.plugin != nullptr && !draft.spec->fused) {
    const bool mine = v.context.types.find(name) != nullptr;
    return v.error(draft, span,
                   concat("the plugin ", draft.stage.plugin, " has no ", kind, " ", quote(name)),
                   {mine ? concat(quote(name), " needs no plugin: omit the line `plugin:`")
                         : content_text(*draft.plugin)});
  }
  for (const PluginTypes& plugin : v.plugins)
    if (plugin.types->find(name) != nullptr)
      return v.error(
          draft, span, concat("unknown ", kind, " ", quote(name)),
          {concat("this type is in a plugin of another stage: write `plugin: ", plugin.file, "`")});
  if (name == kExecType)
    return v.error(draft, span, concat("unknown ", kind, " ", quote(name)),
                   {"for a program, write `exec: [PROGRAM, ARGUMENT, ...]` instead of this line"});
  if (name == kMixType)
    return v.error(draft, span, concat("unknown ", kind, " ", quote(name)),
                   {"for a mixture, write `mix: {STAGE: SHARE, ...}` instead of this line"});
  if (name == kPythonType)
    return v.error(draft, span,
                   "a list of types runs in one process, but a Python stage needs its own",
                   {"write it as a separate stage: `transform: python`"});
  if (const auto known = stage_elsewhere(name))
    return v.error(draft, span, concat("unknown ", kind, " ", quote(name)), {*known});
  const auto meant = similar_type(v, *draft.spec->kind, name);
  v.error(
      draft, span, concat("unknown ", kind, " ", quote(name)),
      {concat(meant ? concat("did you mean \"", *meant, "\"?  ") : std::string(), kAllTypes, ".")});
}

// Of the kind that is asked for, where several have the name: an application reads or feeds.
const StageType* find_in(const StageTypes& types, const Draft& draft, const std::string& name) {
  for (const StageType& type : types.all())
    if (type.contract.type == name && type.contract.kind == *draft.spec->kind) return &type;
  return types.find(name);
}

// In the plugin that the stage names; the links of a fused stage may also be the program's.
const StageType* look_up(const Validation& v, const Draft& draft, const std::string& name) {
  if (draft.plugin != nullptr) {
    const StageType* type = find_in(*draft.plugin, draft, name);
    if (type != nullptr || !draft.spec->fused) return type;
  }
  return find_in(v.context.types, draft, name);
}

// The body of a plugin's type may be in a module beside the plugin.
bool has_body(Validation& v, const Draft& draft, const StageType& type) {
  if (!draft.spec->plugin || !type.module.starts_with('/') ||
      v.context.metadata.kind(type.module) != PathKind::missing)
    return true;
  v.error(draft, draft.spec->plugin->span,
          concat("there is no ", type.module, ", which contains the body of ",
                 quote(type.contract.type)),
          {"copy it into the folder of the plugin, with which it was built"});
  return false;
}

const StageType* find_type(Validation& v, const Draft& draft, const Marked<std::string>& written) {
  const auto& [name, span] = written;
  const StageKind wanted = *draft.spec->kind;
  const StageType* type = look_up(v, draft, name);
  if (type == nullptr) {
    report_unknown_type(v, draft, written);
    return nullptr;
  }
  if (type->contract.kind == wanted) return has_body(v, draft, *type) ? type : nullptr;
  const std::string_view is = stage_kind_name(type->contract.kind);
  v.error(draft, span, concat(quote(name), " is a ", is, ", not a ", stage_kind_name(wanted)),
          {concat("write `", is, ": ", name, "`")});
  return nullptr;
}

// A plugin that could not be read has been reported; what it has is not known.
bool plugin_is_missing(const Draft& draft) { return draft.spec->plugin && draft.plugin == nullptr; }

void check_plugin_is_needed(Validation& v, const Draft& draft,
                            const std::vector<const StageType*>& links) {
  if (draft.plugin == nullptr) return;
  for (const StageType* link : links)
    if (draft.plugin->find(link->contract.type) == link) return;
  v.error(draft, draft.spec->plugin->span,
          concat("no stage type of the list is in the plugin ", draft.stage.plugin),
          {content_text(*draft.plugin)});
}

void resolve_fused(Validation& v, Draft& draft) {
  std::vector<const StageType*> links;
  for (const TypeSpec& type : draft.spec->types) links.push_back(find_type(v, draft, type.name));
  if (std::find(links.begin(), links.end(), nullptr) != links.end()) return;
  check_plugin_is_needed(v, draft, links);
  auto fused = fused_type(std::move(links));
  if (!fused) return v.error(draft, *draft.spec->fused, fused.error().message);
  draft.stage.fused = std::make_shared<const StageType>(std::move(*fused));
  draft.stage.type = draft.stage.fused.get();
  draft.has_type = true;
}

void resolve_type(Validation& v, Draft& draft) {
  const StageSpec& spec = *draft.spec;
  if (spec.kind) draft.stage.kind = *spec.kind;
  if (!spec.kind || spec.broken || plugin_is_missing(draft)) return;
  if (spec.fused) return resolve_fused(v, draft);
  if (spec.exec) return validate_exec(v, draft);
  if (!spec.mixed.empty()) {
    draft.stage.type = &mix_type();
    draft.has_type = true;
    return;
  }
  if (is_python(draft)) return validate_python(v, draft);
  if (spec.types.size() != 1) return;
  draft.stage.type = find_type(v, draft, spec.types.front().name);
  draft.has_type = draft.stage.type != nullptr;
}

std::string users_text(std::uint8_t users) {
  if (users == kIndexedProducers) return "producers that read by index, and caches";
  if (users == kDividedProducers) return "producers that read by index";
  std::vector<std::string_view> names;
  if (users & kProducers) names.push_back("producers");
  if (users & kTransforms) names.push_back("transforms");
  if (users & kConsumers) names.push_back("consumers");
  return join(names, ", ", " and ");
}

void check_users(Validation& v, Draft& draft) {
  for (const GivenKey& given : draft.spec->keys) {
    const KeySpec& key = *given.key;
    const std::string_view name = key.name;
    if (key.users & key_users(draft.stage)) continue;
    std::vector<std::string> help;
    if (name == "batch")
      help.push_back(
          "write the batch size of a consumer at the stage that it reads, or in its source: `from: "
          "{stage: NAME, batch: 64}`");
    if (name == "from") help.push_back("only transforms and consumers read other stages");
    const std::string_view kind = stage_kind_name(draft.stage.kind);
    const bool by_index = key.users == kIndexedProducers || key.users == kDividedProducers;
    const bool stream = draft.stage.kind == StageKind::producer && by_index;
    if (by_index && name != "count")
      help.push_back(
          stream
              ? "a stream is read in order: filter it at its source, or read it from files by index"
              : "write it at the producer");
    v.error(draft, given.span,
            concat("`", name, "` applies to ", users_text(key.users), ", but this is ",
                   stream ? "a stream" : concat("a ", kind)),
            std::move(help));
  }
}

std::vector<std::string> key_lines() {
  std::vector<std::string> lines{"keys of a stage:"};
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
    } else if (const auto now = renamed_key(KeyScope::stage, name); !now.empty()) {
      help.push_back(concat("`", name, ":` is now called `", now, ":`"));
    } else if (const auto known = other_key_help(name, KeyScope::stage)) {
      help.push_back(*known);
    } else if (meant) {
      help.push_back(concat("did you mean \"", *meant, "\"?"));
    } else if (find_key(KeyScope::top, name) != nullptr) {
      help.push_back(concat("`", name, "` belongs at the top level of the file"));
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
