#include <optional>
#include <utility>

#include "pipeline/records/staging_slots.h"
#include "pipeline/worker/replica/work.h"
#include "pipeline/worker/tasks/guarded_call.h"
#include "pipeline/worker/tasks/poll_backoff.h"
#include "transports/stream_ends.h"

namespace brigade {
namespace {

/// One of several replicas of a stream. They share the numbers by claiming tasks, so a replica has
/// its next sample in private memory before it claims one: a task claimed for nothing would hold up
/// all others. Within a task it waits no longer than `max_wait` for the next sample and fills the
/// rest with padding; a batch that stays open beyond its task is closed the same way. When its
/// stage says `end` it acknowledges and claims no more; the last one to do so finds the end of the
/// index space, and the rest up to it is padding that all claim together.
///
/// Nobody counts across replicas: index and id of a sample are its number. Each counts what it has
/// given itself, in its tally, from which a successor goes on.
class SharedStreamWork final : public Work {
 public:
  SharedStreamWork(const ReplicaContext& context, Stage& stage)
      : context_(context),
        stage_(&stage),
        errors_(context),
        next_(*context.plan, *context.stage, *context.rings, context.stage_index),
        writer_(*context.plan, *context.stage, *context.rings, context.stage_index),
        in_flight_(&context.replica_words().in_flight.value),
        task_(context.stage->queues.front().task),
        multiple_(context.plan->index_spaces[context.stage->queues.front().index_space].multiple),
        ends_(*context.control, context.stage_index, context.replica, multiple_),
        pause_(context) {}

  Result<bool> ready() override {
    if (ends_.stop() != Stop::none || waiting_) return true;
    if (!ends_.is_over()) {
      next_.writer().begin(0);
      Result<Next> answer = call(next_.writer(), 0);
      if (answer.ok() && *answer == Next::wait) return a_batch_stays_open();
      pause_.reset();
      if (!answer.ok() || *answer != Next::end) {
        waiting_ = std::move(answer);
        return true;
      }
      ends_.end();
    }
    return ends_.acknowledge();
  }

  void rest() override {
    if (!ends_.is_over()) return pause_.sleep(kStreamPauseLongestNs);
    ends_.wait_for_others();
  }

  Result<TaskDone> work(QueueNumber, std::uint64_t first) override {
    writer_.begin(first);
    TaskDone done;
    std::uint64_t slot = 0;
    for (; slot < task_ && !ends_.is_over(); ++slot) {
      const Result<Next> answer = slot == 0 ? first_slot(first) : later_slot(slot, first + slot);
      if (answer.ok() && *answer == Next::end) ends_.end();
      if (answer.ok() && (*answer == Next::end || *answer == Next::wait)) break;
      BRIGADE_TRY(give(answer, slot, first + slot, done));
    }
    for (; slot < task_; ++slot) {
      writer_.headers()[slot] = {{first + slot, first + slot, 0, 0}, SlotState::pad};
      ++done.not_full.pads;
    }
    writer_.end(done.full);
    return done;
  }

 private:
  /// Readers wait for the rest of a batch, and no replica has claimed anything for `max_wait`: a
  /// task of padding is due. The replicas take turns, else they would open the next batch.
  bool a_batch_stays_open() {
    const std::uint64_t claimed = claimed_up_to(*context_.control, context_.stage_index);
    const std::int64_t now = monotonic_ns();
    if (claimed != claimed_) claimed_since_ns_ = now;
    claimed_ = claimed;
    return claimed % multiple_ != 0 &&
           now - claimed_since_ns_ >= context_.stage->max_wait_ns * (1 + context_.replica);
  }

  Result<Next> call(RecordWriter& writer, std::uint64_t slot) {
    writer.select(slot);
    Outputs out = writer.outputs();
    Result<Next> answer =
        guarded([&]() -> Result<Next> { return stage_->process(Inputs(no_inputs_), out); });
    writer.check_shapes(answer);
    if (emitted(answer)) writer.commit(slot);
    return answer;
  }

  /// The sample that was waiting for its number. `wait`: none was.
  Result<Next> first_slot(std::uint64_t number) {
    if (!waiting_) return Next::wait;
    const Result<Next> answer = *std::exchange(waiting_, std::nullopt);
    if (emitted(answer)) next_.copy_to_ring(0, number);
    return answer;
  }

  /// `wait`: nothing comes in time.
  Result<Next> later_slot(std::uint64_t slot, std::uint64_t number) {
    for (;;) {
      if (ends_.stop() != Stop::none) return Next::wait;
      in_flight_->store(number, std::memory_order_relaxed);
      Result<Next> answer = call(writer_, slot);
      in_flight_->store(kNever, std::memory_order_relaxed);
      if (!answer.ok() || *answer != Next::wait) {
        pause_.reset();
        return answer;
      }
      const std::int64_t left = context_.stage->max_wait_ns - pause_.waited_ns();
      if (left <= 0) return answer;
      pause_.sleep(left);
    }
  }

  Result<void> give(const Result<Next>& answer, std::uint64_t slot, std::uint64_t number,
                    TaskDone& done) {
    SlotHeader& header = writer_.headers()[slot];
    header = {{number, number, number, 0}, SlotState::full};
    ++done.not_full.samples_done;
    if (emitted(answer)) {
      ++done.full;
      return {};
    }
    BRIGADE_TRY(settle_call(answer, context_, 0, samples_of(&header, 1), errors_));
    header.state = SlotState::empty;
    ++done.not_full.empty_slots;
    return {};
  }

  ReplicaContext context_;
  Stage* stage_;
  ErrorPolicy errors_;
  StagingSlots next_;
  RecordWriter writer_;
  Frame no_inputs_;
  SystemPolicy::Atomic<std::uint64_t>* in_flight_;
  std::uint64_t task_;
  std::uint64_t multiple_;
  SharedStreamEnds<SystemPolicy> ends_;
  std::optional<Result<Next>> waiting_;  // of the sample in next_: what its call returned
  std::uint64_t claimed_ = 0;            // by all replicas, when looked at last
  std::int64_t claimed_since_ns_ = 0;
  PollBackoff pause_;
};

}  // namespace

std::unique_ptr<Work> make_shared_stream_work(const ReplicaContext& context, Stage& stage) {
  return std::make_unique<SharedStreamWork>(context, stage);
}

}  // namespace brigade
