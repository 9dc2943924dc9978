#include "base/text.h"
#include "pipeline/config/key_table.h"
#include "pipeline/process/commands/commands.h"
#include "pipeline/process/commands/print.h"
#include "pipeline/process/key_help.h"
#include "pipeline/process/language_schema.h"
#include "pipeline/process/stage_help.h"

namespace brigade {

int stages_command(const StagesArguments& arguments, const StageTypes& types) {
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
  std::vector<std::string> names;
  for (const StageType& type : types.all()) names.push_back(type.contract.type);
  const auto meant = did_you_mean(arguments.name, names);
  const bool key = !meant && find_key(KeyScope::stage, arguments.name) != nullptr;
  print_error(concat("brigade: error: unknown stage type ", quote(arguments.name),
                     meant ? concat("; did you mean ", quote(*meant), "?") : std::string(),
                     key ? "; it is a key: `brigade stages --keys` explains it\n"
                         : "  `brigade stages` lists all.\n"));
  return 2;
}

}  // namespace brigade
