#include "pipeline/replica/task_loop.h"

#include "pipeline/replica/streamed_stores.h"

namespace brigade {
TaskLoop::TaskLoop(const ReplicaContext& context, JoinedQueues<SystemPolicy>& queues,
                   EpochNotifier& epoch_ends, Work& work, int spins, CheckpointSaver* checkpoints)
    : context_(context),
      counters_(context),
      queues_(&queues),
      epoch_ends_(&epoch_ends),
      work_(&work),
      spins_(spins),
      checkpoints_(checkpoints) {}

Result<void> TaskLoop::run() {
  for (;;) {
    BRIGADE_TRY(between_tasks());
    BRIGADE_ASSIGN(const bool ready, work_->ready());
    if (!ready) {
      rest();
      continue;
    }
    const Attempt<SystemPolicy> found = claim();
    // Again: another replica may have finished an epoch since, and the task is beyond it.
    BRIGADE_TRY(between_tasks());
    if (found.look == Look::ended) return checkpoints_ ? checkpoints_->finish() : Result<void>();
    BRIGADE_TRY(do_task(found.task));
  }
}

Result<void> TaskLoop::between_tasks() {
  BRIGADE_TRY(epoch_ends_->call_passed());
  return checkpoints_ ? checkpoints_->look() : Result<void>();
}

void TaskLoop::rest() {
  counters_.begin_wait(Cause::input);
  work_->rest();
  counters_.end_wait(Cause::input);
}

Attempt<SystemPolicy> TaskLoop::claim() {
  return claim_counted(context_, *queues_, counters_, spins_,
                       [this] { return queues_->try_claim(); });
}

Result<void> TaskLoop::do_task(std::uint64_t task) {
  SystemPolicy::point(FaultPoint::work_start);
  counters_.begin_task();
  const QueueNumber queue = queues_->queue();
  const Result<TaskDone> done = work_->work(queue, task * queues_->at(queue).task_size());
  if (!done.ok()) return done.error();
  if (done->nothing) {
    counters_.end_wait(Cause::input);
    return {};
  }
  publish_streamed_stores();
  queues_->finish(task, done->not_full);
  counters_.end_task(done->full);
  return {};
}

bool has_started(const ReplicaContext& context) {
  return context.control->phase->value.load(std::memory_order_seq_cst) !=
         static_cast<std::uint64_t>(Phase::starting);
}

void wait_for_start(const ReplicaContext& context) {
  auto& doorbell = context.control->doorbells[context.number()].rings;
  for (;;) {
    const std::uint32_t rings = doorbell.load(std::memory_order_seq_cst);
    if (has_started(context)) return;
    SystemPolicy::sleep(doorbell, rings);
  }
}

}  // namespace brigade
