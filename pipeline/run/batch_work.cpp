#include "pipeline/run/input_rows.h"

namespace brigade {
namespace {

class BatchWork final : public TaskWork {
 public:
  BatchWork(const ReplicaContext& context, Stage& stage)
      : context_(context),
        stage_(&stage),
        errors_(context),
        rows_(context),
        at_(&context.replica_words().at.value) {}

  Result<TaskDone> work(int lane, std::uint64_t first) override {
    RecordReader& reader = rows_.begin(context_, lane, first);
    RowStates& states = reader.states();
    TaskDone done{states.full, {states.pads, states.holes, 0}};
    if (context_.stage->drop_last && states.pads > 0) leave_out(states, done);
    if (rows_.writer) rows_.writer->pass_on(reader.headers(), states);
    if (states.full == 0) return done;

    at_->store(lane_number(lane, first + states.first_full), std::memory_order_relaxed);
    const Result<Next> answer = call(reader, states);
    if (!emitted(answer)) [[unlikely]] {
      BRIGADE_TRY(settle_call(answer, context_, lane, reader.samples(), errors_));
      done.full = 0;
      done.not_full.holes += states.full;
      if (rows_.writer) make_holes(rows_.writer->headers(), states);
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
    if (emitted(answer)) rows_.writer->commit_full(states);
    return answer;
  }

  /// `drop_last`: the samples of a short batch are holes from here on.
  static void leave_out(RowStates& states, TaskDone& done) {
    done.not_full.dropped = states.full;
    done.full = 0;
    for (RowState& state : states.states)
      if (state == RowState::full) state = RowState::hole;
    states.count();
  }

  static void make_holes(RowHeader* headers, const RowStates& states) {
    for (std::uint64_t row = 0; row < states.rows(); ++row)
      if (states.is_full(row)) headers[row].state = RowState::hole;
  }

  ReplicaContext context_;
  Stage* stage_;
  SampleErrors errors_;
  InputRows rows_;
  Frame no_outputs_;
  SystemPolicy::Atomic<std::uint64_t>* at_;
};

}  // namespace

std::unique_ptr<TaskWork> make_batch_work(const ReplicaContext& context, Stage& stage) {
  return std::make_unique<BatchWork>(context, stage);
}

}  // namespace brigade
