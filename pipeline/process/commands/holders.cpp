#include "pipeline/stats/holders.h"

#include <unistd.h>

#include "base/clock.h"
#include "base/text.h"
#include "pipeline/process/commands/commands.h"
#include "pipeline/process/commands/print.h"
#include "pipeline/process/running_graphs.h"

namespace brigade {

int holders_command(const HoldersArguments& arguments) {
  int shown = 0;
  int failed = 0;
  for (const RunningGraph& graph : find_running_graphs()) {
    if (arguments.pid != 0 && graph.pid != arguments.pid) continue;
    auto segments = look_into(graph);
    if (!segments) {
      print_error(concat("brigade: error: ", segments.error().message, '\n'));
      ++failed;
      continue;
    }
    const Plan& plan = (*segments)->plan();
    const auto& control = (*segments)->control();
    print(concat(shown++ == 0 ? "" : "\n", plan.name.empty() ? plan.file : plan.name, " (process ",
                 graph.pid, ")\n",
                 holders_text(plan, control, read_holders(plan, control, monotonic_ns()))));
  }
  if (shown + failed == 0) {
    print_error(arguments.pid == 0
                    ? std::string("brigade: error: no graph is running\n")
                    : concat("brigade: error: process ", arguments.pid,
                             " runs no graph; `brigade holders` shows all that run\n"));
  }
  return shown > 0 && failed == 0 ? 0 : 1;
}

}  // namespace brigade
