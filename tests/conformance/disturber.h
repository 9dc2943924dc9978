#pragma once

// What happens to a run's processes while it goes on: they are killed, stand still and are late, at
// random moments from outside, and at the fault points that they are armed with.

#include <atomic>
#include <cstdint>
#include <functional>
#include <random>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "transports/repair.h"

namespace brigade::conformance {

struct Disturbance {
  int kills = 0;           ///< at most
  bool consumers = false;  ///< kills these, too
  /// "slow.0": nobody else is killed, and not before it stands still at its point or the line is
  /// at work: who takes its place has no faults.
  std::string victim;
  int stops = 0;        ///< SIGSTOP, and SIGCONT some milliseconds later; at most
  std::string faults;   ///< BRIGADE_FAULT of the workers; who stops there goes on, too
  std::string repairs;  ///< a fault of the supervisor, which is this process: at a repair.* point
  std::uint64_t seed = 1;
  RepairRules rules;       ///< of the repair
  bool degrade = false;    ///< the dead are not started again
  int hangs_after_s = 60;  ///< then it is ended, and a hang
};

/// What has happened to them.
struct Disturbed {
  int kills = 0;
  int stops = 0;            ///< by a signal from outside
  int stops_at_points = 0;  ///< of those who stopped themselves, as far as they were seen
};

/// Kills workers of this program and makes them stand still, one after the other, at random
/// moments. Whoever stands still, through it or at a fault point, goes on a while later.
class Disturber {
 public:
  /// `spared`: stages whose workers are not killed; `at_work`: whether the line is.
  Disturber(const Disturbance& disturbance, std::set<std::string> spared,
            std::function<bool()> at_work);
  ~Disturber();

  /// What it has done.
  const Disturbed& stop();

 private:
  struct Worker {
    pid_t pid;
    bool spared;
  };

  void work();
  void disturb(const Worker& worker);
  void let_go_on(const std::vector<Worker>& workers);
  std::vector<Worker> find_workers() const;

  const Disturbance disturbance_;
  const std::set<std::string> spared_;
  const std::function<bool()> at_work_;
  std::mt19937_64 chance_;
  std::set<pid_t> stopped_;
  std::atomic<bool> over_{false};
  Disturbed done_;
  std::thread thread_;
};

/// Arms the workers that are started while it lives, and the repairs of this process.
class Faults {
 public:
  explicit Faults(const Disturbance& disturbance);
  ~Faults();
};

}  // namespace brigade::conformance
