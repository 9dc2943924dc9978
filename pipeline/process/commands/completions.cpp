#include "pipeline/process/completions.h"

#include "pipeline/process/commands/commands.h"
#include "pipeline/process/commands/print.h"

namespace brigade {

int completions_command(const CompletionsArguments& arguments, const StageTypes& types) {
  std::vector<std::string> names;
  for (const StageType& type : types.all()) names.push_back(type.contract.type);
  const auto script = completion_script(arguments.shell, arguments.commands, names);
  if (!script) return 2;  // the command line has refused other shells
  print(*script);
  return 0;
}

}  // namespace brigade
