#include "pipeline/process/completions.h"

#include "base/text.h"

namespace brigade {
namespace {

using Commands = std::vector<CommandWords>;

std::vector<std::string> names_of(const Commands& commands) {
  std::vector<std::string> names;
  for (const CommandWords& command : commands) names.push_back(command.name);
  return names;
}

std::string bash_script(const Commands& commands, const std::vector<std::string>& stage_types) {
  std::string text =
      "# source <(brigade completions bash)\n"
      "_brigade() {\n"
      "  local word=${COMP_WORDS[COMP_CWORD]} words=\"\"\n"
      "  if [ \"$COMP_CWORD\" = 1 ]; then\n";
  text += concat("    words=\"", join(names_of(commands), " "), "\"\n  else\n",
                 "    case ${COMP_WORDS[1]} in\n");
  for (const CommandWords& command : commands) {
    const bool stages = command.name == "stages";
    text += concat("      ", command.name, ") words=\"", join(command.flags, " "),
                   stages ? " " : "", stages ? join(stage_types, " ") : "", "\" ;;\n");
  }
  return text +
         "    esac\n"
         "  fi\n"
         "  COMPREPLY=($(compgen -W \"$words\" -- \"$word\"))\n"
         "}\n"
         "complete -o default -F _brigade brigade\n";
}

// The flags and names are the same: zsh runs bash's functions.
std::string zsh_script(const Commands& commands, const std::vector<std::string>& stage_types) {
  return "# source <(brigade completions zsh)\n"
         "autoload -U +X bashcompinit && bashcompinit\n" +
         bash_script(commands, stage_types);
}

std::string fish_text(std::string_view text) {
  std::string out;
  for (char character : text) {
    if (character == '\'' || character == '\\') out += '\\';
    out += character;
  }
  return out;
}

std::string fish_script(const Commands& commands, const std::vector<std::string>& stage_types) {
  std::string text = "# brigade completions fish | source\n";
  for (const CommandWords& command : commands) {
    text += concat("complete -c brigade -n __fish_use_subcommand -f -a ", command.name, " -d '",
                   fish_text(command.help), "'\n");
    for (const std::string& flag : command.flags) {
      text += concat("complete -c brigade -n '__fish_seen_subcommand_from ", command.name, "' -l ",
                     flag.substr(2), "\n");
    }
  }
  return concat(text, "complete -c brigade -n '__fish_seen_subcommand_from stages' -f -a '",
                join(stage_types, " "), "'\n");
}

}  // namespace

std::optional<std::string> completion_script(std::string_view shell,
                                             const std::vector<CommandWords>& commands,
                                             const std::vector<std::string>& stage_types) {
  if (shell == "bash") return bash_script(commands, stage_types);
  if (shell == "zsh") return zsh_script(commands, stage_types);
  if (shell == "fish") return fish_script(commands, stage_types);
  return std::nullopt;
}

}  // namespace brigade
