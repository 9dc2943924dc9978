#pragma once

// Finds the samples that cause deaths. A worker that dies by itself (a crash, an abort,
// an exit in the middle of its work, too much memory) makes its in-flight sample a
// suspect; after `poison_after` such deaths the sample is quarantined. Any other SIGKILL
// comes from outside and is not caused by a sample; but the run ends after a
// hundred workers were killed on one sample without progress of the stage. Pure.

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "pipeline/plan/plan.h"
#include "pipeline/run/launch/process_runner.h"

namespace brigade {

/// Deaths from outside on one in-flight sample, the watermark not moving, after which the run ends.
inline constexpr int kKillsWithoutProgress = 100;

/// Whether a worker ended by its own doing, as far as its end says.
bool is_own_fault(const Ending& ending);

class PoisonTracker {
 public:
  /// `plan` outlives it.
  explicit PoisonTracker(const Plan& plan) : plan_(plan) {}

  struct Verdict {
    /// To go into quarantine: the sample, or all of a batch. With their task queues
    /// (SampleAddress::word()).
    std::vector<std::uint64_t> poisoned;
    int deaths = 0;         ///< by the sample's own fault, so far
    bool hopeless = false;  ///< killed over and over without progress
  };
  /// `at`: the dead replica's word of that name, kNever for none. `level`: the watermark of that
  /// task queue. `own_fault`: whether it ended by its own doing.
  Verdict died(StageNumber stage, std::uint64_t at, std::uint64_t level, bool own_fault);
  /// Whether one more death by its own doing is one too many.
  bool is_last_chance(StageNumber stage, std::uint64_t at) const;

 private:
  struct Kills {
    std::uint64_t level = 0;
    int count = 0;
  };
  using Key = std::pair<StageNumber, std::uint64_t>;  // `at`

  const Plan& plan_;
  std::map<Key, int> faults_;
  std::map<Key, Kills> kills_;
};

}  // namespace brigade
