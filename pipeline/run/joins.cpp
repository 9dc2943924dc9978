#include "pipeline/run/joins.h"

namespace brigade {

JoinedLanes::JoinedLanes(Control<SystemPolicy>& control, const PlanStage& stage, int stage_index,
                         int replica)
    : control_(&control), by_turns_(stage.join == Join::epochs) {
  for (std::size_t l = 0; l < stage.lanes.size(); ++l) {
    lanes_.emplace_back(control, stage_index, static_cast<int>(l), replica);
    const auto domain = static_cast<std::size_t>(stage.lanes[l].domain);
    periods_.push_back(&control.domains[domain]->epoch_period.value);
  }
  if (by_turns_ || lanes_.size() == 1) return;
  for (std::size_t l = 0; l < lanes_.size(); ++l) {
    watched_.push_back(&lanes_[l].mark());
    for (const PlanInput& input : stage.lanes[l].inputs)
      watched_.push_back(control.stages[static_cast<std::size_t>(input.stage)].lanes[0].mark);
  }
}

Attempt<SystemPolicy> JoinedLanes::claim_in_turn() {
  for (;;) {
    Lane& lane = at(lane_);
    // The end of the turn is an end like that of the stream: a lane that has reached it says
    // `ended`, one whose last tasks are in other hands is blocked on its own mark.
    lane.set_own_end((epoch_ + 1) * period(lane_));
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
