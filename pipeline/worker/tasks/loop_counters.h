#pragma once

// The times that a replica's loop records: the clock is read once
// per task, and once more after a wait. One replica's; one thread.

#include <cstdint>

#include "base/clock.h"
#include "pipeline/worker/tasks/replica_context.h"
#include "transports/channel.h"

namespace brigade {

class LoopCounters {
 public:
  explicit LoopCounters(const ReplicaContext& context)
      : counters_(&context.counters()), now_ns_(monotonic_ns()) {}

  std::int64_t now_ns() const { return now_ns_; }  ///< end of the last task or wait

  void begin_wait(Cause cause) {
    counters_->since_ns.store(static_cast<std::uint64_t>(now_ns_), kRelaxed);
    counters_->waiting.store(static_cast<std::uint64_t>(waiting_for(cause)), kRelaxed);
  }
  /// Also without begin_wait().
  void end_wait(Cause cause) {
    const std::int64_t now = monotonic_ns();
    count_up(wait_word(cause), static_cast<std::uint64_t>(now - now_ns_));
    counters_->waiting.store(static_cast<std::uint64_t>(Waiting::no), kRelaxed);
    now_ns_ = now;
  }

  /// The task goes on after a wait: what has passed of it was work.
  void interrupt_task() {
    const std::int64_t now = monotonic_ns();
    count_up(counters_->busy_ns, static_cast<std::uint64_t>(now - now_ns_));
    now_ns_ = now;
  }
  void begin_task() { counters_->since_ns.store(static_cast<std::uint64_t>(now_ns_), kRelaxed); }
  /// After its finish. `full`: FULL slots that were finished.
  void end_task(std::uint64_t full) {
    const std::int64_t now = monotonic_ns();
    if (full > 0 && counters_->first_sample_ns.load(kRelaxed) == 0) [[unlikely]]
      counters_->first_sample_ns.store(static_cast<std::uint64_t>(now_ns_), kRelaxed);
    count_up(counters_->samples, full);
    count_up(counters_->tasks, 1);
    count_up(counters_->busy_ns, static_cast<std::uint64_t>(now - now_ns_));
    now_ns_ = now;
  }

 private:
  static constexpr auto kRelaxed = std::memory_order_relaxed;

  static Waiting waiting_for(Cause cause) {
    if (cause == Cause::input) return Waiting::input;
    return cause == Cause::memory ? Waiting::memory : Waiting::other;
  }
  ReplicaCounters::Word& wait_word(Cause cause) const {
    if (cause == Cause::input) return counters_->wait_in_ns;
    return cause == Cause::memory ? counters_->wait_out_ns : counters_->wait_other_ns;
  }

  ReplicaCounters* counters_;
  std::int64_t now_ns_;
};

}  // namespace brigade
