#pragma once

// Which lane of a stage has the next task. A stage has one lane (one source, or several zipped: a
// task covers the same numbers in all of them), except under `join: epochs`, where it has one per
// source: epoch 0 of the first source, epoch 0 of the second, ..., epoch 1 of the first, and so on;
// and under `join: merge`, where it takes whichever is there, the lanes in turn.
//
// Under `epochs` where a stage stands follows from its marks alone: the current turn is the first
// (epoch, lane) whose mark has not passed the end of that epoch. So replicas agree without a word
// of their own, and a restart needs nothing. A turn begins when every task of the turn before it is
// done.
//
// One replica's; one thread. Call order: (try_claim finish)*, as of a Channel.

#include <cstdint>
#include <span>
#include <vector>

#include "pipeline/plan/plan.h"
#include "transports/channel.h"

namespace brigade {

class JoinedLanes {
 public:
  using Lane = Channel<SystemPolicy>;

  JoinedLanes(Control<SystemPolicy>& control, const PlanStage& stage, int stage_index, int replica);

  /// Under `epochs` the domains' epoch_period must have been set (Phase::running). A replica that
  /// waits for others of its stage to finish a turn is blocked on that lane's mark, Cause::gate.
  Attempt<SystemPolicy> try_claim() {
    if (lanes_.size() == 1) return lanes_.front().try_claim();
    return by_turns_ ? claim_in_turn() : claim_any();
  }

  /// Of the task claimed last.
  int lane() const { return lane_; }

  void finish(std::uint64_t task, const RowCounts& not_full, const Pace& pace) {
    lanes_[static_cast<std::size_t>(lane_)].finish(task, not_full, pace);
  }

  /// Pays what is owed on all lanes.
  void pay() {
    for (Lane& lane : lanes_) lane.pay();
  }

  /// The marks that can unblock an attempt besides the one it names: of all lanes, under `merge`.
  std::span<Mark<SystemPolicy>* const> watched() const { return watched_; }

  int count() const { return static_cast<int>(lanes_.size()); }
  Lane& at(int lane) { return lanes_[static_cast<std::size_t>(lane)]; }
  const Lane& at(int lane) const { return lanes_[static_cast<std::size_t>(lane)]; }

  /// Numbers that an epoch of this lane takes; 0 while unknown.
  std::uint64_t period(int lane) const {
    return periods_[static_cast<std::size_t>(lane)]->load(std::memory_order_acquire);
  }

 private:
  Attempt<SystemPolicy> claim_in_turn();
  Attempt<SystemPolicy> claim_any();
  bool all_ended() const;
  void next_turn();

  Control<SystemPolicy>* control_;
  std::vector<Lane> lanes_;
  std::vector<SystemPolicy::Atomic<std::uint64_t>*> periods_;
  std::vector<Mark<SystemPolicy>*> watched_;
  bool by_turns_;
  int lane_ = 0;
  std::uint64_t epoch_ = 0;
};

}  // namespace brigade
