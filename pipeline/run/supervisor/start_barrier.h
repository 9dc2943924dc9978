#pragma once

// The condition for the start of a run: all replicas of producers, caches and
// consumers have opened, and one of each transform, whose others join later. All
// replicas of a source must find the same number of samples, as must zipped
// sources, which are read alike. From that number S and the index space's multiple
// L follow the length P of an epoch and the end of the stream. Plain data.

#include <optional>
#include <string>
#include <vector>

#include <brigade/result.h>
#include "pipeline/plan/replica_table.h"

namespace brigade {

/// What the barrier found out about an index space.
struct IndexSpaceStart {
  IndexSpaceNumber index_space = 0;
  std::uint64_t samples = 0;  ///< S
  std::uint64_t period = 0;   ///< P = S rounded up to L
  friend bool operator==(const IndexSpaceStart&, const IndexSpaceStart&) = default;
};

class StartBarrier {
 public:
  /// `plan` outlives it.
  explicit StartBarrier(const Plan& plan);

  /// `replica`: number in the graph; `size`: what an indexed source reported.
  /// `found`: what it chose them from, all that there is; 0 where nobody says.
  void ready(int replica, std::optional<std::uint64_t> size, std::uint64_t found = 0);
  /// It will not come, and the run goes on without it.
  void gone(int replica);
  bool complete() const;
  /// "train.0, train.1": who is still opening; at most a few names.
  std::string waiting_for() const;

  /// Once complete: the index spaces whose sources know their size; those that are derived from
  /// them follow. Errors name the sources and both sizes, or the source that is empty.
  Result<std::vector<IndexSpaceStart>> starts() const;

  /// Also before that: as far as the first ready replica of a source tells; nothing while none is.
  std::optional<IndexSpaceStart> start_so_far(IndexSpaceNumber index_space) const;

 private:
  struct Replica {
    bool ready = false;
    bool gone = false;
    std::optional<std::uint64_t> size;
    std::uint64_t found = 0;
  };
  std::string name(int number) const;
  bool waits_for(int number) const;
  Result<void> check_zipped(IndexSpaceNumber index_space) const;
  Result<std::optional<std::uint64_t>> size_of_stage(StageNumber stage) const;
  Result<std::optional<std::uint64_t>> size_of_cache(const PlanStage& stage) const;
  Result<std::optional<IndexSpaceStart>> start_of(IndexSpaceNumber index_space) const;

  const Plan& plan_;
  const ReplicaTable table_;
  ByReplica<Replica> replicas_;
};

}  // namespace brigade
