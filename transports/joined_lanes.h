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

#include "transports/channel.h"

namespace brigade {

template <class P>
class JoinedLanes {
 public:
  JoinedLanes(Control<P>& control, int stage, int replica);

  /// A replica that waits for others of its stage to finish a turn is blocked on that lane's mark,
  /// Cause::gate.
  Attempt<P> try_claim() {
    if (lanes_.size() == 1) return lanes_.front().try_claim();
    switch (turns_) {
      case Turns::epochs:
        return claim_in_turn();
      case Turns::cache:
        return claim_of_cache();
      case Turns::any:
        break;
    }
    return claim_any();
  }

  /// Of a cache: the number up to which everything that lane 0 will give has been kept.
  void give_up_to(std::function<std::uint64_t()> kept_up_to) {
    kept_up_to_ = std::move(kept_up_to);
  }

  /// Of the task claimed last.
  int lane() const { return lane_; }

  void finish(std::uint64_t task, const RowCounts& not_full) {
    lanes_[static_cast<std::size_t>(lane_)].finish(task, not_full);
  }

  /// The marks that can unblock an attempt besides the one it names: of all lanes, unless they have
  /// turns.
  std::span<Mark<P>* const> watched() const { return watched_; }

  int count() const { return static_cast<int>(lanes_.size()); }
  Channel<P>& at(int lane) { return lanes_[static_cast<std::size_t>(lane)]; }
  const Channel<P>& at(int lane) const { return lanes_[static_cast<std::size_t>(lane)]; }

 private:
  Attempt<P> claim_in_turn();
  Attempt<P> claim_any();
  Attempt<P> claim_of_cache();
  bool all_ended() const;
  void next_turn();

  Control<P>* control_;
  std::vector<Channel<P>> lanes_;
  std::vector<Mark<P>*> watched_;
  std::function<std::uint64_t()> kept_up_to_;
  Turns turns_;
  int lane_ = 0;
  std::uint64_t epoch_ = 0;
};

template <class P>
JoinedLanes<P>::JoinedLanes(Control<P>& control, int stage, int replica)
    : control_(&control), turns_(control.shape->stages[static_cast<std::size_t>(stage)].turns) {
  const StageShape& shape = control.shape->stages[static_cast<std::size_t>(stage)];
  for (std::size_t l = 0; l < shape.lanes.size(); ++l)
    lanes_.emplace_back(control, stage, static_cast<int>(l), replica);
  if (turns_ == Turns::epochs || lanes_.size() == 1) return;
  for (Channel<P>& lane : lanes_) lane.add_neighbours(watched_);
}

template <class P>
Attempt<P> JoinedLanes<P>::claim_in_turn() {
  for (;;) {
    Channel<P>& lane = at(lane_);
    // The end of the turn is an end like that of the stream: a lane that has reached it says
    // `ended`, one whose last tasks are in other hands is blocked on its own mark.
    lane.set_epoch(epoch_);
    Attempt<P> found = lane.try_claim();
    if (found.look == Look::claimed) return found;
    if (found.look == Look::blocked) {
      if (found.cause == Cause::end) found.cause = Cause::gate;
      return found;
    }
    if (is_aborting(*control_) || all_ended()) return found;
    next_turn();
  }
}

template <class P>
Attempt<P> JoinedLanes<P>::claim_any() {
  Attempt<P> best{Look::ended};
  for (int turn = 1; turn <= count(); ++turn) {
    const int lane = (lane_ + turn) % count();
    const Attempt<P> found = at(lane).try_claim();
    if (found.look == Look::claimed) {
      lane_ = lane;
      return found;
    }
    if (found.look == Look::ended) continue;
    if (best.look == Look::ended || found.cause == Cause::input) best = found;
  }
  return best;
}

template <class P>
Attempt<P> JoinedLanes<P>::claim_of_cache() {
  Channel<P>& gives = at(0);
  Channel<P>& keeps = at(1);
  // seq_cst, and before the samples are looked at: part of the sleeper's "look again" (doorbell.h).
  // Whoever keeps a sample moves this mark afterwards.
  const std::uint64_t kept = keeps.mark().low.value.load(std::memory_order_seq_cst);
  const bool full = kept >= keeps.end();  // what is not there now never will be
  if (full && is_aborting(*control_)) return {Look::ended};
  const bool begun = gives.end() != kNever;  // what is above may have ended before that is said
  gives.set_own_end(!begun ? 0 : full ? kNever : kept_up_to_());
  Attempt<P> given = gives.try_claim();
  lane_ = 0;
  if (given.look == Look::claimed) return given;
  Attempt<P> found = keeps.try_claim();
  if (found.look == Look::claimed) {
    lane_ = 1;
    return found;
  }
  // The end of what has been kept so far is none.
  if (given.look == Look::ended && gives.low() < gives.end())
    given = {Look::blocked, 0, &keeps.mark(), Cause::input};
  if (found.look == Look::ended) return given;
  return given.look == Look::blocked && given.cause == Cause::memory ? given : found;
}

template <class P>
bool JoinedLanes<P>::all_ended() const {
  for (const Channel<P>& lane : lanes_) {
    if (lane.low() < lane.end()) return false;
  }
  return true;
}

template <class P>
void JoinedLanes<P>::next_turn() {
  if (++lane_ < count()) return;
  lane_ = 0;
  ++epoch_;
}

}  // namespace brigade
