#include "pipeline/run/input_rows.h"
#include "pipeline/run/quarantine.h"
#include "pipeline/run/rows_before.h"

namespace brigade {
namespace {

class BatchWork final : public TaskWork {
 public:
  BatchWork(const ReplicaContext& context, Stage& stage)
      : context_(context),
        stage_(&stage),
        errors_(context),
        quarantine_(context, errors_),
        rows_(context),
        at_(&context.replica_words().at.value),
        fixed_(context.stage->lanes.front().fixed) {}

  Result<TaskDone> work(int lane, std::uint64_t first) override {
    RecordReader& reader = rows_.begin(lane, first);
    RowStates& states = reader.states();
    const PlanLane& planned = context_.stage->lanes[static_cast<std::size_t>(lane)];
    const std::uint64_t before = leave_out_before(planned, first, reader.headers(), states);
    BRIGADE_ASSIGN(const std::uint64_t quarantined,
                   quarantine_.leave_out(lane, reader.headers(), states));
    TaskDone done{states.full,
                  {states.pads, states.holes - before - quarantined, 0, quarantined, 0, before}};
    const bool left_out = context_.stage->drop_last && is_short(lane, first, states);
    if (left_out) leave_out(states, done);
    if (rows_.writer) rows_.writer->pass_on(reader.headers(), states);
    const bool had_it = was_before(planned, first, reader.headers()[0]);
    if (states.full == 0 && (left_out || had_it || !fixed_)) return done;

    at_->store(lane_number(lane, first + states.first_full), std::memory_order_relaxed);
    const Result<Next> answer = call(reader, states);
    if (!emitted(answer)) [[unlikely]] {
      BRIGADE_TRY(settle_call(answer, context_, lane, reader.samples(), errors_));
      done.full = 0;
      done.not_full.holes += states.full;
      if (rows_.writer) make_holes(*rows_.writer, states);
    }
    at_->store(kNever, std::memory_order_relaxed);
    return done;
  }

 private:
  Result<Next> call(RecordReader& reader, const RowStates& states) {
    reader.select_full();
    const Inputs in = reader.inputs();
    if (!rows_.writer) {
      Outputs none(no_outputs_);
      return guarded([&]() -> Result<Next> { return stage_->process(in, none); });
    }
    rows_.writer->select_full(states);
    Outputs out = rows_.writer->outputs();
    Result<Next> answer = guarded([&]() -> Result<Next> { return stage_->process(in, out); });
    rows_.writer->check_shapes(answer);
    if (emitted(answer)) rows_.writer->commit_full(states);
    return answer;
  }

  /// Under `assign: fixed` the tasks of a round are short together, so that counts stay equal.
  bool is_short(int lane, std::uint64_t first, const RowStates& states) const {
    if (!fixed_ || context_.stage->replicas == 1) return states.pads > 0;
    const DomainWords<SystemPolicy>& domain = context_.domain_of(lane);
    const std::uint64_t round = context_.stage->lanes[static_cast<std::size_t>(lane)].task *
                                static_cast<std::uint64_t>(context_.stage->replicas);
    const std::uint64_t index = first % domain.epoch_period.value.load(std::memory_order_acquire);
    return (index / round + 1) * round > domain.epoch_samples.value.load(std::memory_order_acquire);
  }

  /// `drop_last`: the samples of a short batch are holes from here on.
  static void leave_out(RowStates& states, TaskDone& done) {
    done.not_full.dropped = states.full;
    done.full = 0;
    for (RowState& state : states.states)
      if (state == RowState::full) state = RowState::hole;
    states.count();
  }

  static void make_holes(RecordWriter& writer, const RowStates& states) {
    for (std::uint64_t row = 0; row < states.rows(); ++row)
      if (states.is_full(row)) writer.make_hole(row);
  }

  ReplicaContext context_;
  Stage* stage_;
  SampleErrors errors_;
  Quarantine quarantine_;
  InputRows rows_;
  Frame no_outputs_;
  SystemPolicy::Atomic<std::uint64_t>* at_;
  bool fixed_;  // then batches without a sample are delivered too
};

}  // namespace

std::unique_ptr<TaskWork> make_batch_work(const ReplicaContext& context, Stage& stage) {
  return std::make_unique<BatchWork>(context, stage);
}

}  // namespace brigade
