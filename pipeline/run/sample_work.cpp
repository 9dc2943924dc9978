#include "pipeline/run/input_rows.h"
#include "pipeline/run/quarantine.h"
#include "pipeline/run/rows_before.h"

namespace brigade {
namespace {

class SampleWork final : public TaskWork {
 public:
  SampleWork(const ReplicaContext& context, Stage& stage)
      : context_(context),
        stage_(&stage),
        errors_(context),
        quarantine_(context, errors_),
        rows_(context),
        at_(&context.replica_words().at.value) {}

  Result<TaskDone> work(int lane, std::uint64_t first) override {
    RecordReader& reader = rows_.begin(lane, first);
    const std::uint64_t before =
        leave_out_before(context_.stage->lanes[static_cast<std::size_t>(lane)], first,
                         reader.headers(), reader.states());
    BRIGADE_ASSIGN(const std::uint64_t quarantined,
                   quarantine_.leave_out(lane, reader.headers(), reader.states()));
    const RowStates& states = reader.states();
    TaskDone done{states.full,
                  {states.pads, states.holes - before - quarantined, 0, quarantined, 0, before}};
    BRIGADE_TRY(rows_.writer ? transform(reader, *rows_.writer, first, done)
                             : consume(reader, lane, first, done));
    return done;
  }

 private:
  Result<void> transform(RecordReader& reader, RecordWriter& writer, std::uint64_t first,
                         TaskDone& done) {
    const RowStates& states = reader.states();
    writer.pass_on(reader.headers(), states);
    for (std::uint64_t row = 0; row < states.rows(); ++row) {
      if (!states.is_full(row)) continue;
      at_->store(first + row, std::memory_order_relaxed);
      reader.select(row);
      writer.select(row);
      const Inputs in = reader.inputs();
      Outputs out = writer.outputs();
      Result<Next> answer = guarded([&]() -> Result<Next> { return stage_->process(in, out); });
      writer.check_shapes(answer);
      if (emitted(answer)) [[likely]] {
        writer.commit(row);
        continue;
      }
      BRIGADE_TRY(settle_call(answer, context_, 0, {&in.sample(), 1}, errors_));
      writer.make_hole(row);
      --done.full;
      ++done.not_full.holes;
    }
    at_->store(kNever, std::memory_order_relaxed);
    return {};
  }

  Result<void> consume(RecordReader& reader, int lane, std::uint64_t first, TaskDone& done) {
    const RowStates& states = reader.states();
    const std::uint64_t at = lane_number(lane, first);
    Outputs none(no_outputs_);
    for (std::uint64_t row = 0; row < states.rows(); ++row) {
      if (!states.is_full(row)) continue;
      at_->store(at + row, std::memory_order_relaxed);
      reader.select(row);
      const Inputs in = reader.inputs();
      const Result<Next> answer =
          guarded([&]() -> Result<Next> { return stage_->process(in, none); });
      if (emitted(answer)) [[likely]]
        continue;
      BRIGADE_TRY(settle_call(answer, context_, lane, {&in.sample(), 1}, errors_));
      --done.full;
      ++done.not_full.holes;
    }
    at_->store(kNever, std::memory_order_relaxed);
    return {};
  }

  ReplicaContext context_;
  Stage* stage_;
  SampleErrors errors_;
  Quarantine quarantine_;
  InputRows rows_;
  Frame no_outputs_;
  SystemPolicy::Atomic<std::uint64_t>* at_;
};

}  // namespace

std::unique_ptr<TaskWork> make_sample_work(const ReplicaContext& context, Stage& stage) {
  return std::make_unique<SampleWork>(context, stage);
}

}  // namespace brigade
