#pragma once

// Which lane of a stage has the next task. A stage has one lane (one source, or several zipped: a
// task covers the same numbers in all of them), except under `join: epochs`, where it has one per
// source: epoch 0 of the first source, epoch 0 of the second, ..., epoch 1 of the first, and so on;
// and under `join: merge`, where it takes whichever is there, the lanes in turn.
//
// Under `epochs` where a stage stands follows from its marks alone: the current turn is the first
// (epoch, lane) whose mark has not passed the end of that epoch. So replicas agree without a word
// of their own, and a restart needs nothing. A turn begins when every task of the turn before it is
// done; where the length of an epoch is not known in advance, as soon as its end is known, too.
//
// A cache has two lanes: 0 gives what it keeps, 1 keeps what it reads. Of lane 0 only those tasks
// may be claimed whose samples have all been kept, so that a replica that waits for one holds
// nothing; meanwhile it keeps others.
//
// One replica's; one thread. Call order: (try_claim finish)*, as of a Channel.

#include <cstdint>
#include <functional>
#include <span>
#include <utility>
#include <vector>

#include "pipeline/plan/plan.h"
#include "transports/channel.h"
#include "transports/epochs.h"

namespace brigade {

class JoinedLanes {
 public:
  using Lane = Channel<SystemPolicy>;

  JoinedLanes(Control<SystemPolicy>& control, const PlanStage& stage, int stage_index, int replica);

  /// A replica that waits for others of its stage to finish a turn is blocked on that lane's mark,
  /// Cause::gate.
  Attempt<SystemPolicy> try_claim() {
    if (lanes_.size() == 1) return lanes_.front().try_claim();
    if (kept_up_to_) return claim_of_cache();
    return by_turns_ ? claim_in_turn() : claim_any();
  }

  /// Of a cache: the number up to which everything that lane 0 will give has been kept.
  void give_up_to(std::function<std::uint64_t()> kept_up_to) {
    kept_up_to_ = std::move(kept_up_to);
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

  /// Where the epochs of this lane end.
  const DomainEpochs<SystemPolicy>& epochs(int lane) const {
    return epochs_[static_cast<std::size_t>(lane)];
  }

 private:
  Attempt<SystemPolicy> claim_in_turn();
  Attempt<SystemPolicy> claim_any();
  Attempt<SystemPolicy> claim_of_cache();
  bool all_ended() const;
  void next_turn();

  Control<SystemPolicy>* control_;
  std::vector<Lane> lanes_;
  std::vector<DomainEpochs<SystemPolicy>> epochs_;
  std::vector<Mark<SystemPolicy>*> watched_;
  std::function<std::uint64_t()> kept_up_to_;
  bool by_turns_;
  int lane_ = 0;
  std::uint64_t epoch_ = 0;
};

}  // namespace brigade
