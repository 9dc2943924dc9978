#pragma once

// The identity of a sample. During a run it is its number among those of a task
// queue (SampleAddress), which is one word in shared memory. Numbers depend on task
// sizes, so data that outlive a run use the position in the epoch (SamplePosition,
// SampleInQueue). A stage gets both, and its id (SampleInfo, <brigade/record.h>).

#include <bit>
#include <cstdint>

#include "transports/shape.h"

namespace brigade {

/// In an index space; also "everything before this one".
struct SamplePosition {
  std::uint64_t epoch = 0;
  std::uint64_t index = 0;  ///< in its epoch
  friend bool operator==(const SamplePosition&, const SamplePosition&) = default;
};

/// A sample that a stage reads: under `join: epochs` each task queue numbers its samples by itself.
struct SampleAddress {
  /// The largest number of a task queue that has room beside a sample's in word().
  static constexpr int kQueueMax = 255;

  QueueNumber queue = 0;
  std::uint64_t number = 0;

  /// Where a single word or list of a stage names a sample (ReplicaWords::in_flight, the skip and
  /// quarantine lists), the task queue stands in the upper bits; of task queue 0, and so of most
  /// stages, it is the plain number.
  constexpr std::uint64_t word() const {
    return static_cast<std::uint64_t>(queue.value()) << kQueueShift | number;
  }
  static constexpr SampleAddress of(std::uint64_t word) {
    return {QueueNumber(static_cast<int>(word >> kQueueShift)),
            word & ((std::uint64_t{1} << kQueueShift) - 1)};
  }

 private:
  static constexpr int kQueueShift = 64 - std::bit_width(unsigned{kQueueMax});
};

/// The same, for a plan with other numbers.
struct SampleInQueue {
  QueueNumber queue = 0;
  SamplePosition at;
  friend bool operator==(const SampleInQueue&, const SampleInQueue&) = default;
};

}  // namespace brigade
