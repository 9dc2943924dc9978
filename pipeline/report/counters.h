#pragma once

// The progress of one replica, as numbers that any process may read at any time: for the progress
// line and the summary. They are in the replica's part of the control segment (Control::extra),
// so they outlive the replica, and its successor continues to count from there.
//
// One writer, the replica's own thread, once per task and after its commit: a replica
// killed in between loses the count of one task, never a sample (the audit counts those
// from the watermarks). Readers see each word whole, but words of different moments.

#include <atomic>
#include <cstdint>

#include "transports/layout.h"

namespace brigade {

/// What a replica waits for right now.
enum class Waiting : std::uint64_t { no = 0, input = 1, memory = 2, other = 3 };

/// All words are relaxed: nothing is published through them.
struct alignas(kCacheLineBytes) ReplicaCounters {
  using Word = std::atomic<std::uint64_t>;

  Word samples{0};          ///< FULL slots finished
  Word tasks{0};            ///< finished, empty ones included
  Word busy_ns{0};          ///< from claim to commit, epoch_end() included
  Word wait_in_ns{0};       ///< for its inputs
  Word wait_out_ns{0};      ///< for room in its ring: its readers are slower
  Word wait_other_ns{0};    ///< for the end, a stop, or the other replicas (`join: epochs`)
  Word first_sample_ns{0};  ///< CLOCK_MONOTONIC when its first FULL slot was in flight; 0: none yet
  Word skipped{0};          ///< samples given up under `on_error: skip`
  Word epochs{0};           ///< epochs of its last input that it has seen the end of
  Word waiting{0};          ///< Waiting
  Word restarts{0};         ///< written by the supervisor while the replica does not run
  Word since_ns{0};         ///< CLOCK_MONOTONIC when it began to wait, or its task in work
};
static_assert(sizeof(ReplicaCounters) % kCacheLineBytes == 0, "replicas do not share lines");

inline constexpr std::uint64_t kReplicaCounterBytes = sizeof(ReplicaCounters);

/// The counters of a replica, by its number in the graph. The segment must have been laid out with
/// replica_extra_bytes = kReplicaCounterBytes (shared_shape() does).
template <class P>
ReplicaCounters& live_counters(const Control<P>& control, int replica) {
  return *reinterpret_cast<ReplicaCounters*>(
      control.extra + static_cast<std::uint64_t>(replica) * control.shape->replica_extra_bytes);
}

/// Adds to a word that only the caller writes.
inline void count_up(ReplicaCounters::Word& word, std::uint64_t amount) {
  word.store(word.load(std::memory_order_relaxed) + amount, std::memory_order_relaxed);
}

}  // namespace brigade
