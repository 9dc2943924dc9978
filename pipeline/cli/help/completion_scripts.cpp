#include "pipeline/cli/help/completion_scripts.h"

#include <brigade/text.h>

namespace brigade {
namespace {

using Commands = std::vector<CommandWords>;

std::vector<std::string> names_of(const Commands& commands) {
  std::vector<std::string> names;
  for (const CommandWords& command : commands) names.push_back(command.name);
  return names;
}

constexpr const char* kShells = "bash zsh fish";

// What may follow a command besides flags; where it is files, the shell completes them itself.
std::string words_after(const CommandWords& command, const std::vector<std::string>& stage_types) {
  if (command.name == "stages") return join(stage_types, " ");
  return command.name == "completions" ? kShells : "";
}

std::string bash_script(const Commands& commands, const std::vector<std::string>& stage_types) {
  std::string text = concat(
      "# source <(brigade completions bash)\n"
      "_brigade() {\n"
      "  local word=${COMP_WORDS[COMP_CWORD]} words=\"\" flags=\"\"\n"
      "  case ${COMP_WORDS[1]} in\n");
  for (const CommandWords& command : commands) {
    text += concat("    ", command.name, ") flags=\"", join(command.flags, " "), "\" words=\"",
                   words_after(command, stage_types), "\" ;;\n");
  }
  return concat(text,
                "  esac\n"
                "  if [ \"$COMP_CWORD\" = 1 ]; then\n"
                "    words=\"",
                join(names_of(commands), " "),
                "\"\n"
                "  elif [ \"${COMP_WORDS[COMP_CWORD-1]}\" = --format ]; then\n"
                "    words=\"ascii dot\"\n"
                "  elif [[ $word == -* ]]; then\n"
                "    words=$flags\n"
                "  fi\n"
                "  COMPREPLY=($(compgen -W \"$words\" -- \"$word\"))\n"
                "}\n"
                "complete -o default -F _brigade brigade\n");
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
  text +=
      "complete -c brigade -n '__fish_seen_subcommand_from graph' -l format -x -a 'ascii dot'\n";
  for (const CommandWords& command : commands) {
    const std::string words = words_after(command, stage_types);
    if (words.empty()) continue;
    text += concat("complete -c brigade -n '__fish_seen_subcommand_from ", command.name,
                   "' -f -a '", words, "'\n");
  }
  return text;
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
