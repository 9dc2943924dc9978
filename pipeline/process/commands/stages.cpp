#include "base/log.h"
#include "base/text.h"
#include "pipeline/config/key_table.h"
#include "pipeline/config/load_graph.h"
#include "pipeline/process/commands/commands.h"
#include "pipeline/process/commands/print.h"
#include "pipeline/process/key_help.h"
#include "pipeline/process/language_schema.h"
#include "pipeline/process/plugin_loader.h"
#include "pipeline/process/stage_help.h"

namespace brigade {

namespace {

int unknown_type(const std::string& name, const StageTypes& types) {
  std::vector<std::string> names;
  for (const StageType& type : types.all()) names.push_back(type.contract.type);
  const auto meant = did_you_mean(name, names);
  const bool key = !meant && find_key(KeyScope::stage, name) != nullptr;
  log_error(
      "unknown stage type ", quote(name),
      meant ? concat("; did you mean ", quote(*meant), "?") : std::string(),
      key ? "; it is a key: `brigade stages --keys` explains it" : "  `brigade stages` lists all.");
  return 2;
}

Result<StageTypes> with_plugins(const StageTypes& program, const std::vector<std::string>& files) {
  StageTypes types = program;
  for (const std::string& file : files) {
    const std::string path =
        file.starts_with('/') ? file : concat(process_working_directory(), "/", file);
    auto opened = open_plugin(path);
    if (!opened) return Error{concat("the plugin ", file, " ", opened.error().message)};
    types.append(*opened);
  }
  return types;
}

}  // namespace

int stages_command(const StagesArguments& arguments, const StageTypes& program) {
  auto with = with_plugins(program, arguments.plugins);
  if (!with) {
    log_error(with.error().message);
    return 2;
  }
  const StageTypes& types = *with;
  if (arguments.json_schema) {
    print(language_schema(types));
    return 0;
  }
  if (arguments.keys) {
    print(key_help());
    return 0;
  }
  if (arguments.name.empty()) {
    print(stage_list(types));
    return 0;
  }
  if (const StageType* const type = types.find(arguments.name)) {
    print(stage_description(*type));
    return 0;
  }
  return unknown_type(arguments.name, types);
}

}  // namespace brigade
