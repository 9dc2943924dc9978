#include "pipeline/run/epoch_ends.h"

#include "base/text.h"
#include "pipeline/run/task_work.h"

namespace brigade {

EpochEnds::EpochEnds(const ReplicaContext& context, JoinedLanes<SystemPolicy>& lanes, Stage* stage)
    : context_(context),
      lanes_(&lanes),
      stage_(stage),
      told_(context.replica_words().ended.value.load(std::memory_order_relaxed)) {
  look_up_boundary();
}

/// Unknown until the sources have opened, or until a source of unknown length gets there.
void EpochEnds::look_up_boundary() {
  const auto lanes = static_cast<std::uint64_t>(lanes_->count());
  boundary_ = kNever;
  for (; told_ / lanes < context_.plan->epochs; ++told_) {
    lane_ = static_cast<int>(told_ % lanes);
    const int domain = context_.stage->lanes[static_cast<std::size_t>(lane_)].domain;
    const std::uint64_t epoch = told_ / lanes;
    if (epoch >= domain_epochs(*context_.plan, domain)) continue;  // it has fewer than others
    boundary_ = lanes_->at(lane_).epochs().end(epoch);
    return;
  }
}

Result<void> EpochEnds::call_all_passed() {
  for (;;) {
    look_up_boundary();
    if (boundary_ == kNever || lanes_->at(lane_).low() < boundary_) return {};
    BRIGADE_TRY(call());
    ++told_;
    context_.replica_words().ended.value.store(told_, std::memory_order_relaxed);
    const auto lanes = static_cast<std::uint64_t>(lanes_->count());
    context_.counters().epochs.store(told_ / lanes, std::memory_order_relaxed);
  }
}

Result<void> EpochEnds::call() {
  if (stage_ == nullptr) return {};
  const auto lanes = static_cast<std::uint64_t>(lanes_->count());
  const PlanLane& lane = context_.stage->lanes[static_cast<std::size_t>(lane_)];
  EpochEnd end;
  end.epoch = static_cast<std::uint32_t>(told_ / lanes);
  if (!lane.inputs.empty()) end.source = lane.inputs.front().port;
  const Result<void> called = guarded([&] { return stage_->epoch_end(end); });
  if (called.ok()) return {};
  return Error{concat(context_.name(), ", end of epoch ", end.epoch, " of ", quote(end.source),
                      ": ", called.error().message)};
}

}  // namespace brigade
