#include <brigade/app.h>

#include <new>

#include "pipeline/cli/commands/command_line.h"
#include "pipeline/cli/commands/print.h"

namespace brigade {

// Here and not beside App's other functions: a program that runs graphs by itself has no commands.
int App::run_command() const {
  try {
    const int code = parse_command_line(arguments_)(types_, started_ns_);
    return code == 0 && output_was_lost() ? 1 : code;
  } catch (const std::bad_alloc&) {
    say_out_of_memory();
  }
}

}  // namespace brigade
