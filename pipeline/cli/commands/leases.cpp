#include "pipeline/cli/commands/leases.h"

#include <brigade/text.h>
#include "base/clock.h"
#include "base/printable.h"
#include "pipeline/cli/commands/commands.h"
#include "pipeline/cli/commands/print.h"
#include "pipeline/report/leases.h"

namespace brigade {

namespace {

constexpr const char* kLeasesExamples = R"(Examples:
  brigade leases
  brigade leases 4711                  of one graph, by its process id

Prints for each replica of the running graphs: its claimed tasks, its in-flight sample, its state
and for how long; then the watermarks of each stage, and the stage that blocks the others.)";

struct LeasesArguments {
  std::uint64_t pid = 0;  // of a supervisor; 0: all
};

void declare(Options& options, LeasesArguments& arguments) {
  options.number("PID", arguments.pid, 1, 1u << 30, "the process of one graph (all)");
}

constexpr std::size_t kNameShownBytes = 200;  // of a graph that may be anybody's

std::string text_of(const RunningGraph& graph, AttachedSegments& segments) {
  const Plan& plan = segments.plan();
  std::vector<ReplicaLease> leases = read_leases(plan, segments.control(), monotonic_ns());
  const std::map<std::string, pid_t> workers = find_workers(graph.pid);
  for (ReplicaLease& lease : leases) {
    const PlanStage& stage = plan.stages[lease.stage];
    lease.process = pid_of_worker(workers, concat(stage.name, ".", lease.replica));
  }
  const std::string_view name = plan.name.empty() ? plan.file : plan.name;
  return concat(printable(name.substr(0, kNameShownBytes)), " (process ", graph.pid, ")\n",
                leases_text(plan, segments.control(), leases));
}

int show(const LeasesArguments& arguments, const StageTypes&, std::int64_t) {
  const FoundGraphs found = find_graphs();
  const int code = show_leases(found.running, static_cast<pid_t>(arguments.pid));
  if (arguments.pid != 0) return code;
  for (const pid_t pid : found.closed)
    print_line(concat("omitted: process ", pid, ", which belongs to another user"));
  return code;
}

}  // namespace

int show_leases(const std::vector<RunningGraph>& graphs, pid_t pid) {
  int shown = 0;
  int code = 0;
  for (const RunningGraph& graph : graphs) {
    if (pid != 0 && graph.pid != pid) continue;
    auto segments = look_into(graph);
    if (segments) {
      print(concat(shown++ == 0 ? "" : "\n", text_of(graph, **segments)));
    } else if (!has_ended(graph)) {
      code = failed(1, segments.error().message);
    }
  }
  if (shown > 0 || code != 0) return code;
  if (pid != 0 && is_closed(pid))
    return failed(1, concat("process ", pid, " belongs to another user: only that user and root ",
                            "may inspect it"));
  if (pid != 0)
    return failed(
        1, concat("process ", pid, " runs no graph; `brigade leases` lists the running graphs"));
  print_line("no graph is running");
  return 0;
}

Command leases_command() {
  return make_command<LeasesArguments>(
      "leases", "show the leases of running graphs: which replica holds what", kLeasesExamples,
      declare, show);
}

}  // namespace brigade
