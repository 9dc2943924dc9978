#pragma once

// Scripts that complete commands, flags and stage types in a shell: `brigade completions bash`.
// Pure.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace brigade {

struct CommandWords {
  std::string name;
  std::string help;
  std::vector<std::string> flags;  ///< "--set", ...
};

/// Nothing for a shell that is not bash, zsh or fish.
std::optional<std::string> completion_script(std::string_view shell,
                                             const std::vector<CommandWords>& commands,
                                             const std::vector<std::string>& stage_types);

}  // namespace brigade
