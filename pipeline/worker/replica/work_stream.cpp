#include <algorithm>

#include "pipeline/records/record_codec.h"
#include "pipeline/worker/replica/work.h"
#include "pipeline/worker/tasks/guarded_call.h"
#include "pipeline/worker/tasks/poll_backoff.h"
#include "pipeline/worker/tasks/stream_position.h"
#include "transports/stream_ends.h"

namespace brigade {
namespace {

/// A source of unknown length with one replica, which works in order: a claimed task that is not
/// finished holds nothing. Samples keep coming until the stage says `end`; then the numbers up to
/// the next multiple of L are padding, and that is the end of the epoch: it is recorded before that
/// padding is published. When nothing comes for `max_wait` in the middle of a batch, the numbers up
/// to the next multiple of L are padding too, so that the readers get what is there. A stop lowers
/// the end; up to it there is only padding. Padding carries the epoch and the samples so far, from
/// which a successor goes on.
class StreamWork final : public Work {
 public:
  StreamWork(const ReplicaContext& context, Stage& stage)
      : context_(context),
        stage_(&stage),
        errors_(context),
        writer_(*context.plan, *context.stage, *context.rings, context.stage_index),
        in_flight_(&context.replica_words().in_flight.value),
        task_(context.stage->queues.front().task),
        multiple_(context.plan->index_spaces[context.stage->queues.front().index_space].multiple),
        place_(stream_position(context).value()),  // Replica::open() has looked
        ends_(*context.control, context.stage_index, multiple_, place_.padding),
        pause_(context) {}

  Result<TaskDone> work(QueueNumber, std::uint64_t first) override {
    if (!ends_.enter(first)) return TaskDone{0, {}, true};
    if (place_.epoch != ends_.epoch())
      place_ = {static_cast<std::uint32_t>(ends_.epoch()), 0, false};
    writer_.begin(first);
    TaskDone done;
    for (std::uint64_t slot = 0; slot < task_; ++slot) {
      const std::uint64_t number = first + slot;
      if (ends_.is_padding(number)) {
        writer_.headers()[slot] = {{number, place_.index, 0, place_.epoch}, SlotState::pad};
        ++done.not_full.pads;
        continue;
      }
      BRIGADE_ASSIGN(const Given given, next(slot, number));
      if (given == Given::nothing) return TaskDone{0, {}, true};
      if (given == Given::padding) --slot;  // look at the same number again
      if (given == Given::sample) ++done.full;
      if (given == Given::empty) ++done.not_full.empty_slots;
    }
    writer_.end(done.full);
    return done;
  }

 private:
  /// What a number became.
  enum class Given { sample, empty, padding, nothing };

  Result<Given> next(std::uint64_t slot, std::uint64_t number) {
    for (;;) {
      const Result<Next> answer = call(slot, number);
      if (answer.ok() && *answer == Next::wait) {
        const Given given = wait(slot, number);
        if (given != Given::sample) return given;
        continue;
      }
      pause_.reset();
      if (answer.ok() && *answer == Next::end) return end(slot, number);
      SlotHeader& header = writer_.headers()[slot];
      header = {{number, place_.index, place_.index, place_.epoch}, SlotState::full};
      ++place_.index;
      if (emitted(answer)) {
        writer_.commit(slot);
        return Given::sample;
      }
      BRIGADE_TRY(settle_call(answer, context_, 0, samples_of(&header, 1), errors_));
      header.state = SlotState::empty;
      return Given::empty;
    }
  }

  Result<Next> call(std::uint64_t slot, std::uint64_t number) {
    in_flight_->store(number, std::memory_order_relaxed);
    writer_.select(slot);
    Outputs out = writer_.outputs();
    Result<Next> answer =
        guarded([&]() -> Result<Next> { return stage_->process(Inputs(no_inputs_), out); });
    writer_.check_shapes(answer);
    in_flight_->store(kNever, std::memory_order_relaxed);
    return answer;
  }

  /// After Next::wait. `sample`: ask again.
  Given wait(std::uint64_t slot, std::uint64_t number) {
    const bool stopped = ends_.stop() != Stop::none;
    const bool open = ends_.is_open(number);
    const std::int64_t waited = pause_.waited_ns();
    if (open && (stopped || waited >= context_.stage->max_wait_ns)) {
      ends_.close(number);
      return Given::padding;
    }
    if (stopped) return Given::nothing;
    pause_.sleep(open ? context_.stage->max_wait_ns - waited : kStreamPauseLongestNs);
    return slot == 0 ? Given::nothing : Given::sample;
  }

  /// Nothing follows in this epoch: it ends here.
  Given end(std::uint64_t slot, std::uint64_t number) {
    ends_.end(number);
    return slot == 0 && number % multiple_ == 0 ? Given::nothing : Given::padding;
  }

  ReplicaContext context_;
  Stage* stage_;
  ErrorPolicy errors_;
  RecordWriter writer_;
  Frame no_inputs_;
  SystemPolicy::Atomic<std::uint64_t>* in_flight_;
  std::uint64_t task_;
  std::uint64_t multiple_;
  StreamPosition place_;
  StreamEnds<SystemPolicy> ends_;
  PollBackoff pause_;
};

}  // namespace

std::unique_ptr<Work> make_stream_work(const ReplicaContext& context, Stage& stage) {
  return std::make_unique<StreamWork>(context, stage);
}

}  // namespace brigade
