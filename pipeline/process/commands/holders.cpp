#include "pipeline/stats/holders.h"

#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/printable.h"
#include "base/text.h"
#include "pipeline/process/commands/commands.h"
#include "pipeline/process/commands/print.h"
#include "pipeline/process/running_graphs.h"

namespace brigade {

namespace {

std::string text_of(const RunningGraph& graph, AttachedSegments& segments) {
  const Plan& plan = segments.plan();
  std::vector<Holder> holders = read_holders(plan, segments.control(), monotonic_ns());
  const std::map<std::string, pid_t> workers = find_workers(graph.pid);
  for (Holder& holder : holders) {
    const PlanStage& stage = plan.stages[static_cast<std::size_t>(holder.stage)];
    const auto worker = workers.find(concat(stage.name, ".", holder.replica));
    if (worker != workers.end()) holder.process = worker->second;
  }
  return concat(printable(plan.name.empty() ? plan.file : plan.name), " (process ", graph.pid,
                ")\n", holders_text(plan, segments.control(), holders));
}

}  // namespace

int holders_command(const HoldersArguments& arguments) {
  int shown = 0;
  int failed = 0;
  for (const RunningGraph& graph : find_running_graphs()) {
    if (arguments.pid != 0 && graph.pid != arguments.pid) continue;
    auto segments = look_into(graph);
    if (!segments) {
      log_error(segments.error().message);
      ++failed;
      continue;
    }
    print(concat(shown++ == 0 ? "" : "\n", text_of(graph, **segments)));
  }
  if (shown + failed == 0) {
    log_error(arguments.pid == 0 ? std::string("no graph is running")
                                 : concat("process ", arguments.pid,
                                          " runs no graph; `brigade holders` shows all that run"));
  }
  return shown > 0 && failed == 0 ? 0 : 1;
}

}  // namespace brigade
