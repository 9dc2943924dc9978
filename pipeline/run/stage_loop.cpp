#include "pipeline/run/stage_loop.h"

#include "base/clock.h"
#include "transports/wait.h"

namespace brigade {
namespace {

constexpr auto kRelaxed = std::memory_order_relaxed;

Waiting waiting_for(Cause cause) {
  switch (cause) {
    case Cause::input:
      return Waiting::input;
    case Cause::memory:
      return Waiting::memory;
    default:
      return Waiting::other;
  }
}

ReplicaCounters::Word& wait_word(ReplicaCounters& counters, Cause cause) {
  switch (waiting_for(cause)) {
    case Waiting::input:
      return counters.wait_in_ns;
    case Waiting::memory:
      return counters.wait_out_ns;
    default:
      return counters.wait_other_ns;
  }
}

}  // namespace

StageLoop::StageLoop(const ReplicaContext& context, JoinedLanes& lanes, EpochEnds& epoch_ends,
                     TaskWork& work, int spins)
    : context_(context),
      counters_(&context.counters()),
      lanes_(&lanes),
      epoch_ends_(&epoch_ends),
      work_(&work),
      spins_(spins) {}

Result<void> StageLoop::run() {
  now_ns_ = monotonic_ns();
  for (;;) {
    BRIGADE_TRY(epoch_ends_->call_passed());
    const Attempt<SystemPolicy> found = claim();
    // Again: another replica may have finished an epoch since, and the task is beyond it.
    BRIGADE_TRY(epoch_ends_->call_passed());
    if (found.look == Look::ended) return {};
    BRIGADE_TRY(do_task(found.task));
  }
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
  const auto before_blocking = [&] {
    lanes_->pay();
    counters_->waiting_since_ns.store(static_cast<std::uint64_t>(now_ns_), kRelaxed);
    counters_->waiting.store(static_cast<std::uint64_t>(waiting_for(cause)), kRelaxed);
  };
  const int me = context_.number();
  found = claim_or_wait(context_.control->bells[me], me, spins_, attempt, before_blocking,
                        lanes_->watched());
  count_wait(cause);
  return found;
}

void StageLoop::count_wait(Cause cause) {
  const std::int64_t now = monotonic_ns();
  count_up(wait_word(*counters_, cause), static_cast<std::uint64_t>(now - now_ns_));
  counters_->waiting.store(static_cast<std::uint64_t>(Waiting::no), kRelaxed);
  now_ns_ = now;
}

Result<void> StageLoop::do_task(std::uint64_t task) {
  SystemPolicy::point(FaultPoint::work_start);
  const int lane = lanes_->lane();
  const Result<TaskDone> done = work_->work(lane, task * lanes_->at(lane).task_size());
  if (!done.ok()) return done.error();
  if (done->nothing) {
    lanes_->pay();
    count_wait(Cause::input);
    return {};
  }
  const std::int64_t now = monotonic_ns();
  const std::int64_t task_ns = now - now_ns_;
  lanes_->finish(task, done->not_full, {now, task_ns});
  count_task(*done, task_ns);
  now_ns_ = now;
  return {};
}

void StageLoop::count_task(const TaskDone& done, std::int64_t task_ns) {
  if (done.full > 0 && counters_->first_sample_ns.load(kRelaxed) == 0) [[unlikely]]
    counters_->first_sample_ns.store(static_cast<std::uint64_t>(now_ns_), kRelaxed);
  count_up(counters_->samples, done.full);
  count_up(counters_->tasks, 1);
  count_up(counters_->busy_ns, static_cast<std::uint64_t>(task_ns));
  count_up(counters_->task_times[time_bucket(task_ns)], 1);
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
