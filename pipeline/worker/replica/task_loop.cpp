#include "pipeline/worker/replica/task_loop.h"

#include "pipeline/worker/tasks/streamed_stores.h"
#include "transports/stop.h"

namespace brigade {
TaskLoop::TaskLoop(const ReplicaContext& context, JoinedQueues<SystemPolicy>& queues,
                   EpochNotifier& epoch_ends, Work& work, int spins, CheckpointSaver* checkpoints,
                   KeptTasks* kept)
    : context_(context),
      counters_(context),
      queues_(&queues),
      epoch_ends_(&epoch_ends),
      work_(&work),
      spins_(spins),
      checkpoints_(checkpoints),
      kept_(kept) {}

Result<void> TaskLoop::run() {
  for (;;) {
    BRIGADE_ASSIGN(const bool claimed, claim_next());
    if (!claimed) return {};
    BRIGADE_TRY(do_task());
  }
}

/// False: the task queues have ended.
Result<bool> TaskLoop::claim_next() {
  for (;;) {
    BRIGADE_TRY(between_tasks());
    BRIGADE_ASSIGN(const bool ready, work_->ready());
    if (!ready) {
      rest();
      continue;
    }
    // Nothing of an epoch is shown before the end of the one before it has been told, and that
    // comes when all that is kept of it is back.
    if (kept_ != nullptr) queues_->set_last_epoch(epoch_ends_->epoch());
    const Attempt<SystemPolicy> found = claim();
    // Again: another replica may have finished an epoch since, and the task is beyond it.
    BRIGADE_TRY(between_tasks());
    task_ = found.task;
    if (found.look != Look::ended) return true;
    if (!is_over()) continue;
    if (checkpoints_ && (kept_ == nullptr || kept_->none())) BRIGADE_TRY(checkpoints_->finish());
    return false;
  }
}

Result<std::optional<Call>> TaskLoop::next_call(CallWork& work) {
  while (!in_task_) {
    BRIGADE_ASSIGN(const bool claimed, claim_next());
    if (!claimed) return std::optional<Call>();
    BRIGADE_TRY(work.begin(queues_->queue(), begin_task()));
    BRIGADE_ASSIGN(in_task_, advance(work));
  }
  return std::optional(work.turn());
}

Result<void> TaskLoop::settle(CallWork& work, Result<Next>& answer) {
  BRIGADE_TRY(work.settle(answer));
  // Nobody is in a call: whoever dies now does so for another reason.
  context_.replica_words().in_flight.value.store(kNever, std::memory_order_relaxed);
  BRIGADE_ASSIGN(in_task_, advance(work));
  return {};
}

/// Whether a call of the task is left; if not, it is finished.
Result<bool> TaskLoop::advance(CallWork& work) {
  BRIGADE_ASSIGN(const bool due, work.advance());
  if (!due) finish_task(work.done());
  return due;
}

Result<void> TaskLoop::between_tasks() {
  BRIGADE_TRY(epoch_ends_->call_passed());
  if (!checkpoints_) return {};
  if (kept_ == nullptr) return checkpoints_->look();
  // What the stage has seen and what the watermark has passed are then the same.
  if (!checkpoints_->due() || !wait_for_kept()) return {};
  BRIGADE_TRY(epoch_ends_->call_passed());
  return checkpoints_->look();
}

/// Of a loop whose claims have ended: not only because an epoch has.
bool TaskLoop::is_over() const {
  return kept_ == nullptr || is_aborting(*context_.control) || queues_->all_ended();
}

/// False: the run is being aborted, and leases may never come back.
bool TaskLoop::wait_for_kept() {
  auto& rings = context_.control->doorbells[context_.number()].rings;
  for (bool waits = false;; waits = true) {
    const std::uint32_t seen = rings.load(std::memory_order_seq_cst);
    kept_->finish_returned();
    const bool over = kept_->none() || is_aborting(*context_.control);
    if (over && waits) counters_.end_wait(Cause::barrier);
    if (over) return kept_->none();
    if (!waits) counters_.begin_wait(Cause::barrier);
    SystemPolicy::sleep(rings, seen);
  }
}

void TaskLoop::rest() {
  counters_.begin_wait(Cause::input);
  work_->rest();
  counters_.end_wait(Cause::input);
}

Attempt<SystemPolicy> TaskLoop::claim() {
  return claim_counted(context_, *queues_, counters_, spins_, [this] { return try_claim(); });
}

Attempt<SystemPolicy> TaskLoop::try_claim() {
  if (kept_ == nullptr) return queues_->try_claim();
  kept_->finish_returned();
  if (!kept_->full()) return queues_->try_claim();
  if (is_aborting(*context_.control)) return {Look::ended};
  return {Look::blocked, 0, nullptr, Cause::barrier};  // until the doorbell is rung
}

/// Its first sample.
std::uint64_t TaskLoop::begin_task() {
  SystemPolicy::point(FaultPoint::work_start);
  counters_.begin_task();
  if (kept_ != nullptr) kept_->begin(queues_->queue(), task_);
  return task_ * queues_->at(queues_->queue()).task_size();
}

void TaskLoop::finish_task(const TaskDone& done) {
  publish_streamed_stores();
  if (kept_ != nullptr) {
    kept_->done(done.not_full);
  } else {
    queues_->finish(task_, done.not_full);
  }
  counters_.end_task(done.full);
}

Result<void> TaskLoop::do_task() {
  const std::uint64_t first = begin_task();
  const Result<TaskDone> done = work_->work(queues_->queue(), first);
  if (!done.ok()) return done.error();
  if (done->nothing) {
    counters_.end_wait(Cause::input);
    return {};
  }
  finish_task(*done);
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
