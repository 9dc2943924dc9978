#include <algorithm>

#include "pipeline/run/record_codec.h"
#include "pipeline/run/stream_pause.h"
#include "pipeline/run/stream_place.h"
#include "pipeline/run/task_work.h"
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
class StreamWork final : public TaskWork {
 public:
  StreamWork(const ReplicaContext& context, Stage& stage)
      : context_(context),
        stage_(&stage),
        errors_(context),
        writer_(*context.plan, *context.stage, context.pools,
                static_cast<std::size_t>(context.stage_index)),
        at_(&context.replica_words().at.value),
        task_(context.stage->lanes.front().task),
        multiple_(
            context.plan->domains[static_cast<std::size_t>(context.stage->lanes.front().domain)]
                .multiple),
        place_(stream_place(context).value()),  // Replica::open() has looked
        ends_(*context.control, context.stage_index, multiple_, place_.padding),
        pause_(context) {}

  Result<TaskDone> work(int, std::uint64_t first) override {
    if (!ends_.enter(first)) return TaskDone{0, {}, true};
    if (place_.epoch != ends_.epoch())
      place_ = {static_cast<std::uint32_t>(ends_.epoch()), 0, false};
    writer_.begin(first);
    TaskDone done;
    for (std::uint64_t row = 0; row < task_; ++row) {
      const std::uint64_t number = first + row;
      if (ends_.is_padding(number)) {
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
    writer_.check_shapes(answer);
    at_->store(kNever, std::memory_order_relaxed);
    return answer;
  }

  /// After Next::wait. `sample`: ask again.
  Given wait(std::uint64_t row, std::uint64_t number) {
    const bool open = number % multiple_ != 0;  // readers wait for the rest of a batch
    const std::int64_t waited = pause_.waited_ns();
    const bool stopped = ends_.stop() != Stop::none;
    if (open && (stopped || waited >= context_.stage->max_wait_ns)) {
      ends_.close(number);
      return Given::padding;
    }
    if (stopped) return Given::nothing;
    pause_.sleep(open ? context_.stage->max_wait_ns - waited : kStreamPauseLongestNs);
    return row == 0 ? Given::nothing : Given::sample;
  }

  /// Nothing follows in this epoch: it ends here.
  Given end(std::uint64_t row, std::uint64_t number) {
    ends_.end(number);
    return row == 0 && number % multiple_ == 0 ? Given::nothing : Given::padding;
  }

  ReplicaContext context_;
  Stage* stage_;
  SampleErrors errors_;
  RecordWriter writer_;
  Frame no_inputs_;
  SystemPolicy::Atomic<std::uint64_t>* at_;
  std::uint64_t task_;
  std::uint64_t multiple_;
  StreamPlace place_;
  StreamEnds<SystemPolicy> ends_;
  StreamPause pause_;
};

}  // namespace

std::unique_ptr<TaskWork> make_stream_work(const ReplicaContext& context, Stage& stage) {
  return std::make_unique<StreamWork>(context, stage);
}

}  // namespace brigade
