#pragma once

// Which sample is to blame for deaths. A worker that ends by its own doing (a crash, an abort, an
// exit in the middle of its work, more memory than there is) with a sample in hand puts that sample
// under suspicion; after `poison_after` such deaths it is quarantined. Another SIGKILL comes from
// outside and is no sample's fault; but a sample that a hundred workers were killed over, without
// the stage getting any further, will not be finished. Pure.

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "pipeline/plan/plan.h"
#include "pipeline/process/process_runner.h"

namespace brigade {

/// Deaths from outside on one sample in hand, the mark not moving, after which the run ends.
inline constexpr int kKillsWithoutProgress = 100;

/// Whether a worker ended by its own doing, as far as its end says.
bool is_own_fault(const Ending& ending);

class DeathLedger {
 public:
  /// `plan` outlives it.
  explicit DeathLedger(const Plan& plan) : plan_(plan) {}

  struct Verdict {
    /// To go into quarantine: the sample, or all of a batch. With their lanes (lane_number()).
    std::vector<std::uint64_t> poisoned;
    int deaths = 0;         ///< by the sample's own fault, so far
    bool hopeless = false;  ///< killed over and over without progress
  };
  /// `at`: the dead replica's word of that name, kNever for none. `low`: the mark of that lane.
  /// `own_fault`: whether it ended by its own doing.
  Verdict died(int stage, std::uint64_t at, std::uint64_t low, bool own_fault);

 private:
  struct Kills {
    std::uint64_t low = 0;
    int count = 0;
  };
  using Key = std::pair<int, std::uint64_t>;  // stage, `at`

  const Plan& plan_;
  std::map<Key, int> faults_;
  std::map<Key, Kills> kills_;
};

}  // namespace brigade
