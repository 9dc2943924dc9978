#pragma once

// The commands of `brigade`, one file each: a row with a name, a line of
// help, examples, its arguments, and its function. all_commands() lists them.

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <brigade/stage_types.h>
#include "pipeline/cli/commands/options.h"

namespace brigade {

/// A command whose words have been read: gives the exit code (0 done, 1 the run failed, 2 the
/// command or the YAML is wrong, 128 + signal stopped by the user). `started_ns`: CLOCK_MONOTONIC
/// when the program started.
using Invocation = std::function<int(const StageTypes& types, std::int64_t started_ns)>;

struct Command {
  std::string name;
  std::string help;      ///< one line
  std::string examples;  ///< below the options of --help
  /// Declares the options; the invocation is called once they have been read.
  std::function<Invocation(Options&)> declare;
};

/// `declare` and `run` share an `Arguments`, which begins with its defaults.
template <class Arguments>
Command make_command(std::string name, std::string help, std::string examples,
                     void (*declare)(Options&, Arguments&),
                     int (*run)(const Arguments&, const StageTypes&, std::int64_t)) {
  return {std::move(name), std::move(help), std::move(examples), [=](Options& options) {
            auto arguments = std::make_shared<Arguments>();
            declare(options, *arguments);
            return [=](const StageTypes& types, std::int64_t started_ns) {
              return run(*arguments, types, started_ns);
            };
          }};
}

Command run_command();
Command check_command();
Command plan_command();
Command graph_command();
Command stages_command();
Command sample_command();
Command sheet_command();
Command init_command();
Command leases_command();
Command doctor_command();
Command docs_command();
Command completions_command();

/// In the order of the help.
inline std::vector<Command> all_commands() {
  return {run_command(),    check_command(),  plan_command(),  graph_command(),
          stages_command(), sample_command(), sheet_command(), init_command(),
          leases_command(), doctor_command(), docs_command(),  completions_command()};
}

}  // namespace brigade
