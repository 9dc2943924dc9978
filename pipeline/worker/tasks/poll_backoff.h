#pragma once

// The wait of a stream without a sample before it is asked again: short,
// then longer and longer, ended immediately by its doorbell. One thread.

#include <algorithm>
#include <cstdint>

#include "base/clock.h"
#include "pipeline/worker/tasks/replica_context.h"

namespace brigade {

inline constexpr std::int64_t kStreamPauseFirstNs = 50'000;
/// How late a sample may be noticed.
inline constexpr std::int64_t kStreamPauseLongestNs = 2'000'000;

class PollBackoff {
 public:
  explicit PollBackoff(const ReplicaContext& context)
      : doorbell_(&context.control->doorbells[context.number()].rings), since_ns_(monotonic_ns()) {}

  /// Something has come.
  void reset() {
    pause_ns_ = kStreamPauseFirstNs;
    since_ns_ = monotonic_ns();
  }
  /// Since then.
  std::int64_t waited_ns() const { return monotonic_ns() - since_ns_; }

  /// Not longer than `most_ns`.
  void sleep(std::int64_t most_ns) {
    const std::int64_t pause = std::min(pause_ns_, most_ns);
    pause_ns_ = std::min(2 * pause_ns_, kStreamPauseLongestNs);
    SystemPolicy::sleep_for(*doorbell_, doorbell_->load(std::memory_order_seq_cst), pause);
  }

 private:
  SystemPolicy::Atomic<std::uint32_t>* doorbell_;
  std::int64_t since_ns_;
  std::int64_t pause_ns_ = kStreamPauseFirstNs;
};

}  // namespace brigade
