#include "pipeline/cli/commands/busy_threads.h"

#include <chrono>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <thread>

#include <brigade/text.h>
#include "base/printable.h"
#include "pipeline/run/attach.h"

namespace brigade {
namespace {

constexpr int kLooks = 20;
constexpr auto kPause = std::chrono::milliseconds(10);
constexpr double kTeamFrom = 1.5;     // threads of one worker
constexpr double kCrowdedFrom = 1.5;  // times the cores: below it threads only take turns
constexpr std::size_t kWorkersNamed = 4;

/// Threads in state R: running, or waiting for a core.
int threads_at_work(pid_t pid) {
  int count = 0;
  std::error_code gone;
  for (std::filesystem::directory_iterator task(concat("/proc/", pid, "/task"), gone), end;
       !gone && task != end; task.increment(gone)) {
    std::ifstream file(task->path() / "stat");
    std::string text;
    std::getline(file, text);
    const std::size_t name_end = text.rfind(") ");
    if (name_end != text.npos && text.compare(name_end + 2, 1, "R") == 0) ++count;
  }
  return count;
}

std::string rounded(double threads) { return concat(std::llround(threads)); }

}  // namespace

std::vector<BusyGraph> look_at_running_graphs() {
  std::vector<BusyGraph> all;
  std::vector<std::map<std::string, pid_t>> workers;
  for (const RunningGraph& graph : find_graphs().running) {
    const auto segments = look_into(graph);
    if (!segments) continue;
    all.push_back({printable((*segments)->plan().name), {}});
    workers.push_back(find_workers(graph.pid));
  }
  for (int look = 0; look < kLooks && !all.empty(); ++look) {
    for (std::size_t i = 0; i < all.size(); ++i)
      for (const auto& [name, pid] : workers[i])
        all[i].threads[printable(name)] += static_cast<double>(threads_at_work(pid)) / kLooks;
    std::this_thread::sleep_for(kPause);
  }
  return all;
}

std::vector<Finding> crowded(const std::vector<BusyGraph>& graphs, std::uint64_t cores) {
  std::vector<Finding> findings;
  for (const BusyGraph& graph : graphs) {
    double sum = 0;
    std::vector<std::string> teams;
    std::size_t others = 0;
    for (const auto& [name, threads] : graph.threads) {
      sum += threads;
      if (threads < kTeamFrom) continue;
      if (teams.size() < kWorkersNamed)
        teams.push_back(concat(rounded(threads), " in ", name));
      else
        ++others;
    }
    if (teams.empty() || sum <= kCrowdedFrom * static_cast<double>(cores)) continue;
    if (others > 0) teams.push_back(concat(others, " more"));
    findings.push_back({Health::note, concat("graph ", graph.name),
                        concat(rounded(sum), " busy threads on ", cores,
                               cores == 1 ? " core" : " cores", ": ", join(teams, ", ")),
                        "libraries start more threads than `threads:` allows, and these wait for "
                        "each other; limit their number (torch.set_num_threads(worker.threads))"});
  }
  return findings;
}

}  // namespace brigade
