#include "pipeline/run/joins.h"

namespace brigade {

JoinedLanes::JoinedLanes(Control<SystemPolicy>& control, const PlanStage& stage, int stage_index,
                         int replica)
    : control_(&control), by_turns_(stage.join == Join::epochs) {
  for (std::size_t l = 0; l < stage.lanes.size(); ++l) {
    lanes_.emplace_back(control, stage_index, static_cast<int>(l), replica);
    epochs_.emplace_back(control, stage.lanes[l].domain);
  }
  if (by_turns_ || lanes_.size() == 1) return;
  for (std::size_t l = 0; l < lanes_.size(); ++l) {
    watched_.push_back(&lanes_[l].mark());
    for (const PlanInput& input : stage.lanes[l].inputs)
      watched_.push_back(control.stages[static_cast<std::size_t>(input.stage)].lanes[0].mark);
  }
  if (!stage.is_cache()) return;
  for (const auto& [reader, lane] : stage.readers)
    watched_.push_back(control.stages[static_cast<std::size_t>(reader)]
                           .lanes[static_cast<std::size_t>(lane)]
                           .mark);
}

Attempt<SystemPolicy> JoinedLanes::claim_in_turn() {
  for (;;) {
    Lane& lane = at(lane_);
    // The end of the turn is an end like that of the stream: a lane that has reached it says
    // `ended`, one whose last tasks are in other hands is blocked on its own mark.
    lane.set_own_end(epochs(lane_).end(epoch_));
    Attempt<SystemPolicy> found = lane.try_claim();
    if (found.look == Look::claimed) return found;
    if (found.look == Look::blocked) {
      if (found.cause == Cause::end) found.cause = Cause::gate;
      return found;
    }
    const bool aborting = control_->phase->value.load(std::memory_order_acquire) ==
                          static_cast<std::uint64_t>(Phase::aborting);
    if (aborting || all_ended()) return found;
    next_turn();
  }
}

Attempt<SystemPolicy> JoinedLanes::claim_any() {
  Attempt<SystemPolicy> best{Look::ended};
  for (int turn = 1; turn <= count(); ++turn) {
    const int lane = (lane_ + turn) % count();
    const Attempt<SystemPolicy> found = at(lane).try_claim();
    if (found.look == Look::claimed) {
      lane_ = lane;
      return found;
    }
    if (found.look == Look::ended) continue;
    if (best.look == Look::ended || found.cause == Cause::input) best = found;
  }
  return best;
}

Attempt<SystemPolicy> JoinedLanes::claim_of_cache() {
  Lane& gives = at(0);
  Lane& keeps = at(1);
  // seq_cst, and before the samples are looked at: part of the sleeper's "look again" (doorbell.h).
  // Whoever keeps a sample moves this mark afterwards.
  const std::uint64_t kept = keeps.mark().low.value.load(std::memory_order_seq_cst);
  const bool full = kept >= keeps.end();     // what is not there now never will be
  const bool begun = gives.end() != kNever;  // what is above may have ended before that is said
  gives.set_own_end(!begun ? 0 : full ? kNever : kept_up_to_());
  Attempt<SystemPolicy> given = gives.try_claim();
  lane_ = 0;
  if (given.look == Look::claimed) return given;
  Attempt<SystemPolicy> found = keeps.try_claim();
  if (found.look == Look::claimed) {
    lane_ = 1;
    return found;
  }
  const bool aborting = control_->phase->value.load(std::memory_order_acquire) ==
                        static_cast<std::uint64_t>(Phase::aborting);
  if (aborting) return found;
  // The end of what has been kept so far is none.
  if (given.look == Look::ended && gives.low() < gives.end())
    given = {Look::blocked, 0, &keeps.mark(), Cause::input};
  if (found.look == Look::ended) return given;
  return given.look == Look::blocked && given.cause == Cause::memory ? given : found;
}

bool JoinedLanes::all_ended() const {
  for (const Lane& lane : lanes_) {
    if (lane.low() < lane.end()) return false;
  }
  return true;
}

void JoinedLanes::next_turn() {
  if (++lane_ < count()) return;
  lane_ = 0;
  ++epoch_;
}

}  // namespace brigade
