#pragma once

// Parses the command line into a command that can be called (App::run_command()).

#include <string>
#include <vector>

#include "pipeline/cli/commands/commands.h"
#include "pipeline/cli/help/completion_scripts.h"

namespace brigade {

/// `given`: the program's name first. Where there is nothing to run (help, version, a mistake) what
/// is called shows the text.
Invocation parse_command_line(const std::vector<std::string>& given,
                              const std::vector<Command>& commands = all_commands());

/// Of each command its name, help and flags, for shells.
std::vector<CommandWords> command_words();

}  // namespace brigade
