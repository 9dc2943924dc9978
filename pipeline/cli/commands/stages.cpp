#include <brigade/text.h>
#include "base/log.h"
#include "pipeline/cli/commands/commands.h"
#include "pipeline/cli/commands/print.h"
#include "pipeline/cli/help/json_schema.h"
#include "pipeline/cli/help/stage_help.h"
#include "pipeline/config/language/key_table.h"
#include "pipeline/config/validate/load_graph.h"
#include "pipeline/worker/plugin_loader.h"
#include "stages/detail/exec_stage.h"

namespace brigade {

namespace {

constexpr const char* kStagesExamples = R"(Examples:
  brigade stages
  brigade stages augment_image
  brigade stages --plugin jitter.so                       include the types of a plugin
  brigade stages --keys                                   the keys of the YAML, with defaults
  brigade stages --json-schema > brigade.schema.json      for your editor

An editor with a YAML language server checks a graph that begins with the line
  # yaml-language-server: $schema=brigade.schema.json)";

struct StagesArguments {
  std::string name;                  // of a stage type; empty: all
  bool keys = false;                 // the table of keys instead
  bool json_schema = false;          // the whole language instead
  std::vector<std::string> plugins;  // files whose stage types are shown, too
};

void declare(Options& options, StagesArguments& arguments) {
  options.text("NAME", arguments.name, "a stage type");
  options.flag("--keys", arguments.keys, "the keys of the YAML, with their defaults");
  options.flag("--json-schema", arguments.json_schema,
               "the language as a JSON schema, for editors");
  options.texts("--plugin", arguments.plugins, "include the stage types of this plugin; repeatable",
                "FILE");
}

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

int show_stages(const StagesArguments& arguments, const StageTypes& program, std::int64_t) {
  auto with = with_plugins(program, arguments.plugins);
  if (!with) return failed(2, with.error().message);
  const StageTypes types = with->append(python_types());
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
  if (types.find(arguments.name) == nullptr) return unknown_type(arguments.name, types);
  for (const StageType& type : types.all())  // an application reads or feeds
    if (type.contract.type == arguments.name) print(stage_description(type));
  return 0;
}

}  // namespace

Command stages_command() {
  return make_command<StagesArguments>("stages", "list the stage types, or describe one",
                                       kStagesExamples, declare, show_stages);
}

}  // namespace brigade
