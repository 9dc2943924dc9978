#include "tests/conformance/disturber.h"

#include <signal.h>

#include <chrono>
#include <cstdlib>
#include <fstream>
#include <utility>

#include <brigade/check.h>
#include <brigade/text.h>
#include "tests/support/children.h"
#include "transports/fault_points.h"

namespace brigade::conformance {
namespace {

bool stands_still(pid_t pid) {
  std::ifstream file(concat("/proc/", pid, "/stat"));
  std::string line;
  std::getline(file, line);
  const auto name_ends = line.rfind(") ");
  return name_ends != line.npos && line.compare(name_ends + 2, 1, "T") == 0;
}

}  // namespace

Disturber::Disturber(const Disturbance& disturbance, std::set<std::string> spared,
                     std::function<bool()> at_work)
    : disturbance_(disturbance),
      spared_(std::move(spared)),
      at_work_(std::move(at_work)),
      chance_(disturbance.seed),
      thread_([this] { work(); }) {}

Disturber::~Disturber() { stop(); }

const Disturbed& Disturber::stop() {
  over_ = true;
  if (thread_.joinable()) thread_.join();
  return done_;
}

void Disturber::work() {
  const bool only_kills = disturbance_.stops == 0 && disturbance_.faults.empty();
  while (!over_ && !(only_kills && done_.kills == disturbance_.kills)) {
    const std::vector<Worker> workers = find_workers();
    if (!workers.empty()) disturb(workers[chance_() % workers.size()]);
    std::this_thread::sleep_for(std::chrono::microseconds(chance_() % 3000));
    if (!only_kills) let_go_on(workers);
  }
}

void Disturber::disturb(const Worker& worker) {
  if (!disturbance_.victim.empty() && !stands_still(worker.pid) && !at_work_()) return;
  const int left = disturbance_.stops - done_.stops;
  if (left > 0 && (chance_() % 2 == 0 || done_.kills == disturbance_.kills)) {
    if (kill(worker.pid, SIGSTOP) != 0) return;
    stopped_.insert(worker.pid);
    ++done_.stops;
  } else if (!worker.spared && done_.kills < disturbance_.kills) {
    if (kill(worker.pid, SIGKILL) == 0) ++done_.kills;
  }
}

/// Most of those who stand still: for some it takes longer.
void Disturber::let_go_on(const std::vector<Worker>& workers) {
  for (const Worker& worker : workers) {
    if (!stands_still(worker.pid) || chance_() % 3 == 0) continue;
    if (stopped_.erase(worker.pid) == 0) ++done_.stops_at_points;
    kill(worker.pid, SIGCONT);
  }
}

std::vector<Disturber::Worker> Disturber::find_workers() const {
  std::vector<Worker> found;
  for (const pid_t pid : support::children_of_this_process()) {
    std::ifstream file(concat("/proc/", pid, "/cmdline"));
    std::string title;
    std::getline(file, title, '\0');
    if (std::string option; std::getline(file, option, '\0') && option == "--exec-host") {
      std::getline(file, title, '\0');
      title = concat("brigade: ", title, ".0");
    }
    const auto name = strip_prefix(title, "brigade: ");
    if (!name || (!disturbance_.victim.empty() && *name != disturbance_.victim)) continue;
    found.push_back({pid, spared_.contains(std::string(name->substr(0, name->rfind('.'))))});
  }
  return found;
}

Faults::Faults(const Disturbance& disturbance) {
  if (!disturbance.faults.empty()) setenv("BRIGADE_FAULT", disturbance.faults.c_str(), 1);
  if (!disturbance.repairs.empty())
    BRIGADE_CHECK(arm_fault(disturbance.repairs), disturbance.repairs);
}

Faults::~Faults() {
  unsetenv("BRIGADE_FAULT");
  disarm_fault();
}

}  // namespace brigade::conformance
