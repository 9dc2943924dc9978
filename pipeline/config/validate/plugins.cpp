#include <algorithm>

#include "pipeline/config/validate/draft.h"

namespace brigade {

namespace {

constexpr const char* kBuildIt =
    "build it from C++ with the CMake function brigade_plugin(); `brigade docs STAGES` explains "
    "how";

const PluginTypes* find_plugin(const Validation& v, const std::string& file) {
  for (const PluginTypes& plugin : v.plugins)
    if (plugin.file == file) return &plugin;
  return nullptr;
}

// Who else has this type: names of stage types are unique in a graph.
std::optional<std::string> other_owner(const Validation& v, const std::string& type) {
  if (v.context.types.find(type) != nullptr) return "this type is already built into the program";
  for (const PluginTypes& plugin : v.plugins)
    if (plugin.types->find(type) != nullptr) return concat("it is also in ", plugin.file);
  return std::nullopt;
}

bool has_once(const StageTypes& types, const std::string& name) {
  return std::count_if(types.all().begin(), types.all().end(),
                       [&](const StageType& type) { return type.contract.type == name; }) == 1;
}

// Whether every type of it may be used; a mistake is said.
bool is_unique(Validation& v, const Draft& draft, const StageTypes& types,
               const std::string& file) {
  const Span& span = draft.spec->plugin->span;
  for (const StageType& type : types.all()) {
    const std::string& name = type.contract.type;
    if (!has_once(types, name)) {
      v.error(draft, span,
              concat("the plugin ", file, " has the stage type ", quote(name), " twice"),
              {"remove one of them from its BRIGADE_PLUGIN"});
      return false;
    }
    if (const auto other = other_owner(v, name)) {
      v.error(draft, span,
              concat("the plugin ", file, " has the stage type ", quote(name), ": ", *other),
              {"rename the type in its contract"});
      return false;
    }
  }
  return true;
}

bool is_file(Validation& v, const Draft& draft, const std::string& file) {
  const auto& [path, span] = *draft.spec->plugin;
  switch (v.context.metadata.kind(file)) {
    case PathKind::file:
      return true;
    case PathKind::missing:
      v.error(draft, span, concat("there is no plugin ", file), {kBuildIt});
      return false;
    case PathKind::forbidden:
      v.error(draft, span, concat("the plugin ", file, " is not accessible: permission denied"));
      return false;
    case PathKind::folder:
    case PathKind::other:
      break;
  }
  v.error(draft, span, concat("the plugin ", file, " is not a file"), {kBuildIt});
  return false;
}

void read_plugin(Validation& v, const Draft& draft, const std::string& file) {
  if (!is_file(v, draft, file)) return;
  const Span& span = draft.spec->plugin->span;
  if (v.context.plugins == nullptr)
    return v.error(draft, span, concat("the plugin ", file, " cannot be opened here"));
  auto types = v.context.plugins->read(file);
  if (!types) return v.error(draft, span, concat("the plugin ", file, " ", types.error().message));
  if (!is_unique(v, draft, *types, file)) return;
  v.plugins.push_back({file, std::make_shared<const StageTypes>(std::move(*types))});
}

}  // namespace

void validate_plugins(Validation& v) {
  std::vector<std::string> seen;  // a mistake in one is said once
  for (Draft& draft : v.drafts) {
    if (!draft.spec->plugin) continue;
    const PathSpec& path = draft.spec->plugin->value;
    const std::string file = absolute_path(v, path.path, path.origin);
    draft.stage.plugin = file;
    if (std::find(seen.begin(), seen.end(), file) == seen.end()) read_plugin(v, draft, file);
    seen.push_back(file);
    if (const PluginTypes* plugin = find_plugin(v, file)) draft.plugin = plugin->types.get();
  }
}

}  // namespace brigade
