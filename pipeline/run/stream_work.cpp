#include <algorithm>

#include "base/clock.h"
#include "pipeline/run/record_codec.h"
#include "pipeline/run/task_work.h"
#include "transports/stop.h"

namespace brigade {
namespace {

constexpr std::int64_t kFirstPauseNs = 50'000;
constexpr std::int64_t kLongestPauseNs = 2'000'000;  // how late a sample may be noticed

/// A source of unknown length. It has one replica, which works in order: a claimed task that is not
/// finished holds nothing. Samples keep coming until the stage says `end`; then the numbers up to
/// the next multiple of L are padding, and that is the end of the domain. When nothing comes for
/// `max_wait` in the middle of a batch, the numbers up to the next multiple of L are padding too,
/// so that the readers get what is there. A stop lowers the end; up to it there is only padding.
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
        task_(context.stage->lanes.front().task),
        multiple_(context.plan->domains[static_cast<std::size_t>(domain_)].multiple),
        last_sample_ns_(monotonic_ns()) {}

  Result<TaskDone> work(int, std::uint64_t first) override {
    if (stop() == Stop::end_is_set) pad_up_to_ = kNever;
    writer_.begin(first);
    TaskDone done;
    for (std::uint64_t row = 0; row < task_; ++row) {
      const std::uint64_t number = first + row;
      if (number < pad_up_to_) {
        writer_.headers()[row] = {number, index_, 0, 0, RowState::pad, {}};
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

  Result<Given> next(std::uint64_t row, std::uint64_t number) {
    for (;;) {
      const Result<Next> answer = call(row, number);
      if (answer.ok() && *answer == Next::wait) {
        const Given given = wait(row, number);
        if (given != Given::sample) return given;
        continue;
      }
      pause_ns_ = kFirstPauseNs;
      last_sample_ns_ = monotonic_ns();
      if (answer.ok() && *answer == Next::end) return end(row, number);
      const SampleInfo sample{number, index_, index_, 0};
      RowHeader& header = writer_.headers()[row];
      header = {number, index_, index_, 0, RowState::full, {}};
      ++index_;
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
    const std::int64_t waited = monotonic_ns() - last_sample_ns_;
    const bool stopped = stop() != Stop::none;
    if (open && (stopped || waited >= context_.stage->max_wait_ns)) {
      pad_up_to_ = closed(number);
      return Given::padding;
    }
    if (stopped) return Given::nothing;
    std::int64_t pause = pause_ns_;
    pause_ns_ = std::min(2 * pause_ns_, kLongestPauseNs);
    if (open) pause = std::min(pause, context_.stage->max_wait_ns - waited);
    auto& bell = context_.control->bells[context_.number()].rings;
    SystemPolicy::sleep_for(bell, bell.load(std::memory_order_seq_cst), pause);
    return row == 0 ? Given::nothing : Given::sample;
  }

  /// Nothing follows: the domain ends here.
  Given end(std::uint64_t row, std::uint64_t number) {
    pad_up_to_ = kNever;
    set_end_of_data(*context_.control, domain_, index_, closed(number));
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
  std::uint64_t task_;
  std::uint64_t multiple_;
  std::uint64_t index_ = 0;      // samples so far
  std::uint64_t pad_up_to_ = 0;  // numbers below it are padding
  std::int64_t last_sample_ns_;
  std::int64_t pause_ns_ = kFirstPauseNs;
};

}  // namespace

std::unique_ptr<TaskWork> make_stream_work(const ReplicaContext& context, Stage& stage) {
  return std::make_unique<StreamWork>(context, stage);
}

}  // namespace brigade
