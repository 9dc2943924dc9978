#include "pipeline/run/stage_loop.h"

#include "pipeline/run/streamed_stores.h"
#include "transports/wait.h"

namespace brigade {
StageLoop::StageLoop(const ReplicaContext& context, JoinedLanes<SystemPolicy>& lanes,
                     EpochEnds& epoch_ends, TaskWork& work, int spins, Checkpoints* checkpoints)
    : context_(context),
      counters_(context),
      lanes_(&lanes),
      epoch_ends_(&epoch_ends),
      work_(&work),
      spins_(spins),
      checkpoints_(checkpoints) {}

Result<void> StageLoop::run() {
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

Result<void> StageLoop::between_tasks() {
  BRIGADE_TRY(epoch_ends_->call_passed());
  return checkpoints_ ? checkpoints_->look() : Result<void>();
}

void StageLoop::rest() {
  counters_.begin_wait(Cause::input);
  work_->rest();
  counters_.end_wait(Cause::input);
}

Attempt<SystemPolicy> StageLoop::claim() {
  Attempt<SystemPolicy> found = lanes_->try_claim();
  if (found.look == Look::claimed) return found;
  Cause cause = found.cause;
  const auto attempt = [&] {
    const Attempt<SystemPolicy> again = lanes_->try_claim();
    if (again.look == Look::blocked) cause = again.cause;
    return again;
  };
  const auto before_sleep = [&] { counters_.begin_wait(cause); };
  found = claim_or_wait(*context_.control, context_.number(), spins_, attempt, before_sleep,
                        lanes_->watched());
  counters_.end_wait(cause);
  return found;
}

Result<void> StageLoop::do_task(std::uint64_t task) {
  SystemPolicy::point(FaultPoint::work_start);
  counters_.begin_task();
  const int lane = lanes_->lane();
  const Result<TaskDone> done = work_->work(lane, task * lanes_->at(lane).task_size());
  if (!done.ok()) return done.error();
  if (done->nothing) {
    counters_.end_wait(Cause::input);
    return {};
  }
  publish_streamed_stores();
  lanes_->finish(task, done->not_full);
  counters_.end_task(done->full);
  return {};
}

void wait_for_start(const ReplicaContext& context) {
  auto& bell = context.control->bells[context.number()].rings;
  for (;;) {
    const std::uint32_t rings = bell.load(std::memory_order_seq_cst);
    if (context.control->phase->value.load(std::memory_order_seq_cst) !=
        static_cast<std::uint64_t>(Phase::starting))
      return;
    SystemPolicy::sleep(bell, rings);
  }
}

}  // namespace brigade
