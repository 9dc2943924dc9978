// From the death of a worker to the moment its work is repaired and to the first task of the
// process that takes its place, in a real graph that goes on meanwhile. Prints JSON.
//
//   recovery_bench [KILLS]
//
// The times are read from the graph's own shared words, by a thread that looks every few
// microseconds; it starts the clock right before kill().

#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <thread>
#include <vector>

#include <brigade/app.h>
#include <brigade/text.h>
#include "base/clock.h"
#include "pipeline/config/graph/file_metadata.h"
#include "pipeline/config/validate/load_graph.h"
#include "pipeline/memory/machine_probe.h"
#include "pipeline/plan/planner/planner.h"
#include "pipeline/report/counters.h"
#include "pipeline/run/attach.h"
#include "pipeline/run/run_session.h"
#include "stages/builtin.h"
#include "tests/support/children.h"

namespace brigade {
namespace {

constexpr const char* kGraph = R"(
epochs: 1000000
stages:
  numbers: {producer: synthetic, params: {count: 100000, shape: [64], dtype: f32}}
  work:
    transform: delay
    from: numbers
    replicas: 2
    params: {ms: 0.05}
    restart: {backoff: 0ms, burst: 1000000}
  end: {consumer: count, from: work}
)";

class NoLines final : public RunOutput {
 public:
  void tell(const Event& event) override {
    if (event.level == EventLevel::error) std::fprintf(stderr, "%s\n", event_text(event).c_str());
  }
  std::int64_t progress_every_ns() const override { return 0; }
};

Result<Plan> plan_graph_of_the_bench(const StageTypes& types) {
  FileMetadataProbe metadata;
  LoadedGraph loaded =
      load_graph({{"recovery.yaml", kGraph, "/", false}}, {.files = {},
                                                           .sets = {},
                                                           .limit = {},
                                                           .types = types,
                                                           .metadata = metadata,
                                                           .environment = {},
                                                           .working_directory = "/"});
  if (!loaded.graph) return Error{loaded.messages()};
  PlanResult planned = plan_graph(*loaded.graph, probe_machine());
  for (const PlanProblem& problem : planned.problems) return Error{problem.message};
  return std::move(planned.plan);
}

pid_t find_worker(const std::string& name) {
  for (const pid_t pid : support::children_of_this_process()) {
    std::ifstream file(concat("/proc/", pid, "/cmdline"));
    std::string title;
    std::getline(file, title, '\0');
    if (title == "brigade: " + name) return pid;
  }
  return 0;
}

template <class Happened>
std::int64_t when(Happened happened) {
  while (!happened()) std::this_thread::sleep_for(std::chrono::microseconds(5));
  return monotonic_ns();
}

double at(const std::vector<std::int64_t>& sorted, double share) {
  const auto place = static_cast<std::size_t>(share * static_cast<double>(sorted.size() - 1));
  return static_cast<double>(sorted[place]) / 1e9;
}

std::string figures(const char* name, std::vector<std::int64_t> times) {
  std::sort(times.begin(), times.end());
  return concat("\"", name, "\": {\"median\": ", at(times, 0.5), ", \"p99\": ", at(times, 0.99),
                ", \"max\": ", at(times, 1), "}");
}

/// Kills replica 0 of `work`, again and again.
void kill_and_measure(const Plan& plan, Control<SystemPolicy>& control, int kills) {
  constexpr int kWork = 1;
  const int number = plan.stages[kWork].first_replica;
  const auto& repairs = control.stages[kWork].repairs->value;
  ReplicaCounters& counters = live_counters(control, number);
  std::vector<std::int64_t> repaired;
  std::vector<std::int64_t> restarted;
  std::mt19937 chance(7);
  while (static_cast<int>(repaired.size()) < kills) {
    std::this_thread::sleep_for(std::chrono::microseconds(2000 + chance() % 5000));
    const pid_t pid = find_worker("work.0");
    if (pid == 0 || counters.since_ns.load() == 0) continue;
    const std::uint64_t before = repairs.load();
    const std::int64_t start = monotonic_ns();
    if (kill(pid, SIGKILL) != 0) continue;
    const std::int64_t then = when([&] { return repairs.load() != before; });
    const auto successor_works = [&] {  // until then that of the dead may still stand there
      return static_cast<std::int64_t>(counters.since_ns.load()) > then;
    };
    repaired.push_back(then - start);
    restarted.push_back(when(successor_works) - start);
  }
  std::printf("{\"kills\": %d, %s, %s}\n", kills, figures("death_to_repaired_s", repaired).c_str(),
              figures("death_to_restarted_s", restarted).c_str());
}

int run(int kills) {
  const StageTypes types = builtin_stage_types();
  auto plan = plan_graph_of_the_bench(types);
  NoLines lines;
  if (!plan) return std::fprintf(stderr, "%s\n", plan.error().message.c_str()), 1;
  auto session = RunSession::start({*plan, {}}, types, lines, {});
  if (!session) return std::fprintf(stderr, "%s\n", session.error().message.c_str()), 1;
  for (const RunningGraph& graph : find_graphs().running) {
    if (graph.pid != getpid()) continue;
    auto segments = look_into(graph);
    if (!segments) return std::fprintf(stderr, "%s\n", segments.error().message.c_str()), 1;
    kill_and_measure((*segments)->plan(), (*segments)->control(), kills);
  }
  (*session)->stop(SIGTERM);
  (*session)->stop(SIGTERM);
  (*session)->wait();
  return 0;
}

}  // namespace
}  // namespace brigade

int main(int argc, char** argv) {
  const brigade::App app(argc, argv, {});
  return brigade::run(argc > 1 ? std::atoi(argv[1]) : 200);
}
