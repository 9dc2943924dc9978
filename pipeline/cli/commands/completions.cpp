#include "pipeline/cli/help/completion_scripts.h"

#include "pipeline/cli/commands/command_line.h"
#include "pipeline/cli/commands/print.h"

namespace brigade {
namespace {

constexpr const char* kCompletionsExamples = R"(Examples:
  source <(brigade completions bash)
  brigade completions fish | source)";

struct CompletionsArguments {
  std::string shell;
};

void declare(Options& options, CompletionsArguments& arguments) {
  options.text("SHELL", arguments.shell, "bash, zsh or fish");
  options.required("SHELL");
  options.one_of("SHELL", {"bash", "zsh", "fish"});
}

int complete(const CompletionsArguments& arguments, const StageTypes& types, std::int64_t) {
  std::vector<std::string> names;
  for (const StageType& type : types.all()) names.push_back(type.contract.type);
  const auto script = completion_script(arguments.shell, command_words(), names);
  if (!script) return 2;  // the command line has refused other shells
  print(*script);
  return 0;
}

}  // namespace

Command completions_command() {
  return make_command<CompletionsArguments>("completions", "a script that completes commands",
                                            kCompletionsExamples, declare, complete);
}

}  // namespace brigade
