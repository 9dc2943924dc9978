#include "pipeline/worker/tasks/epoch_notifier.h"

#include <brigade/text.h>
#include "pipeline/worker/tasks/guarded_call.h"

namespace brigade {

EpochNotifier::EpochNotifier(const ReplicaContext& context, JoinedQueues<SystemPolicy>& queues,
                             Stage* stage)
    : context_(context),
      queues_(&queues),
      stage_(stage),
      told_(context.replica_words().ended.value.load(std::memory_order_relaxed)) {
  look_up_boundary();
}

/// Unknown until the sources have opened, or until a source of unknown length gets there.
void EpochNotifier::look_up_boundary() {
  const auto queues = static_cast<std::uint64_t>(queues_->count());
  boundary_ = kNever;
  for (; told_ / queues < context_.plan->epochs; ++told_) {
    queue_ = QueueNumber(told_ % queues);
    const IndexSpaceNumber index_space = context_.stage->queues[queue_].index_space;
    const std::uint64_t epoch = told_ / queues;
    if (epoch >= index_space_epochs(*context_.plan, index_space))
      continue;  // it has fewer than others
    boundary_ = queues_->at(queue_).epochs().end(epoch);
    return;
  }
}

Result<void> EpochNotifier::call_all_passed() {
  for (;;) {
    look_up_boundary();
    if (boundary_ == kNever || queues_->at(queue_).level() < boundary_) return {};
    BRIGADE_TRY(call());
    ++told_;
    context_.replica_words().ended.value.store(told_, std::memory_order_relaxed);
    const auto queues = static_cast<std::uint64_t>(queues_->count());
    context_.counters().epochs.store(told_ / queues, std::memory_order_relaxed);
  }
}

Result<void> EpochNotifier::call() {
  if (stage_ == nullptr) return {};
  const auto queues = static_cast<std::uint64_t>(queues_->count());
  const PlanQueue& queue = context_.stage->queues[queue_];
  EpochEnd end;
  end.epoch = static_cast<std::uint32_t>(told_ / queues);
  if (!queue.inputs.empty()) end.source = queue.inputs.front().port;
  const Result<void> called = guarded([&] { return stage_->epoch_end(end); });
  if (called.ok()) return {};
  return called.error().within(concat("end of epoch ", end.epoch, " of ", quote(end.source)));
}

}  // namespace brigade
