#include <algorithm>

#include "pipeline/run/record_codec.h"
#include "pipeline/run/stream_pause.h"
#include "pipeline/run/stream_place.h"
#include "pipeline/run/task_work.h"
#include "transports/stop.h"

namespace brigade {
namespace {

/// A source of unknown length with one replica, which works in order: a claimed task that is not
/// finished holds nothing. Samples keep coming until the stage says `end`; then the numbers up to
/// the next multiple of L are padding, and that is the end of the epoch: it is recorded before that
/// padding is published. When nothing comes for `max_wait` in the middle of a batch, the numbers up
/// to the next multiple of L are padding too, so that the readers get what is there. A stop lowers
/// the end; up to it there is only padding. Padding carries the epoch and the samples so far, from
/// which a successor goes on.
class StreamWork final : public TaskWork {
 public:
  StreamWork(const ReplicaContext& context, Stage& stage)
      : context_(context),
        stage_(&stage),
        errors_(context),
        writer_(*context.plan, *context.stage, context.pools,
                static_cast<std::size_t>(context.stage_index)),
        at_(&context.replica_words().at.value),
        stop_(&context.domain_of(0).stop.value),
        domain_(context.stage->lanes.front().domain),
        ends_(&context.control->epoch_ends[static_cast<std::size_t>(domain_)]),
        task_(context.stage->lanes.front().task),
        multiple_(context.plan->domains[static_cast<std::size_t>(domain_)].multiple),
        place_(stream_place(context)),
        pause_(context) {}

  Result<TaskDone> work(int, std::uint64_t first) override {
    if (!enter(first)) return TaskDone{0, {}, true};
    writer_.begin(first);
    TaskDone done;
    for (std::uint64_t row = 0; row < task_; ++row) {
      const std::uint64_t number = first + row;
      if (number < pad_up_to_) {
        writer_.headers()[row] = {number, place_.index, 0, place_.epoch, RowState::pad, {}};
        ++done.not_full.pads;
        continue;
      }
      BRIGADE_ASSIGN(const Given given, next(row, number));
      if (given == Given::nothing) return TaskDone{0, {}, true};
      if (given == Given::padding) --row;  // look at the same number again
      if (given == Given::sample) ++done.full;
      if (given == Given::hole) ++done.not_full.holes;
    }
    return done;
  }

 private:
  /// What a number became.
  enum class Given { sample, hole, padding, nothing };

  Stop stop() const { return static_cast<Stop>(stop_->load(std::memory_order_seq_cst)); }
  std::uint64_t closed(std::uint64_t number) const {
    return (number + multiple_ - 1) / multiple_ * multiple_;
  }

  /// The epoch of a task; false: there is none, the domain has ended.
  bool enter(std::uint64_t first) {
    while (ends_->end(place_.epoch) <= first) place_ = {place_.epoch + 1, 0};
    if (place_.epoch == ends_->capacity()) {  // a predecessor may have died before it could say so
      end_epoch(*context_.control, domain_, place_.epoch - 1, ends_->end(place_.epoch - 1));
      return false;
    }
    const std::uint64_t end = ends_->end(place_.epoch);
    if (end != kNever) pad_up_to_ = end;
    if (stop() == Stop::end_is_set) pad_up_to_ = kNever;
    return true;
  }

  Result<Given> next(std::uint64_t row, std::uint64_t number) {
    for (;;) {
      const Result<Next> answer = call(row, number);
      if (answer.ok() && *answer == Next::wait) {
        const Given given = wait(row, number);
        if (given != Given::sample) return given;
        continue;
      }
      pause_.reset();
      if (answer.ok() && *answer == Next::end) return end(row, number);
      const SampleInfo sample{number, place_.index, place_.index, place_.epoch};
      RowHeader& header = writer_.headers()[row];
      header = {number, place_.index, place_.index, place_.epoch, RowState::full, {}};
      ++place_.index;
      if (emitted(answer)) {
        writer_.commit(row);
        return Given::sample;
      }
      BRIGADE_TRY(settle_call(answer, context_, 0, {&sample, 1}, errors_));
      header.state = RowState::hole;
      return Given::hole;
    }
  }

  Result<Next> call(std::uint64_t row, std::uint64_t number) {
    at_->store(number, std::memory_order_relaxed);
    writer_.select(row);
    Outputs out = writer_.outputs();
    Result<Next> answer =
        guarded([&]() -> Result<Next> { return stage_->process(Inputs(no_inputs_), out); });
    at_->store(kNever, std::memory_order_relaxed);
    return answer;
  }

  /// After Next::wait. `sample`: ask again.
  Given wait(std::uint64_t row, std::uint64_t number) {
    const bool open = number % multiple_ != 0;  // readers wait for the rest of a batch
    const std::int64_t waited = pause_.waited_ns();
    const bool stopped = stop() != Stop::none;
    if (open && (stopped || waited >= context_.stage->max_wait_ns)) {
      pad_up_to_ = closed(number);
      return Given::padding;
    }
    if (stopped) return Given::nothing;
    pause_.sleep(open ? context_.stage->max_wait_ns - waited : kStreamPauseLongestNs);
    return row == 0 ? Given::nothing : Given::sample;
  }

  /// Nothing follows in this epoch: it ends here.
  Given end(std::uint64_t row, std::uint64_t number) {
    pad_up_to_ = closed(number);
    end_epoch(*context_.control, domain_, place_.epoch, closed(number));
    return row == 0 && closed(number) == number ? Given::nothing : Given::padding;
  }

  ReplicaContext context_;
  Stage* stage_;
  SampleErrors errors_;
  RecordWriter writer_;
  Frame no_inputs_;
  SystemPolicy::Atomic<std::uint64_t>* at_;
  SystemPolicy::Atomic<std::uint64_t>* stop_;
  int domain_;
  const EpochList<SystemPolicy>* ends_;
  std::uint64_t task_;
  std::uint64_t multiple_;
  StreamPlace place_;
  std::uint64_t pad_up_to_ = 0;  // numbers below it are padding
  StreamPause pause_;
};

}  // namespace

std::unique_ptr<TaskWork> make_stream_work(const ReplicaContext& context, Stage& stage) {
  return std::make_unique<StreamWork>(context, stage);
}

}  // namespace brigade
