#include "pipeline/replica/quarantine.h"
#include "pipeline/replica/resume_filter.h"
#include "pipeline/replica/slot_io.h"

namespace brigade {
namespace {

class SampleWork final : public Work {
 public:
  SampleWork(const ReplicaContext& context, Stage& stage)
      : context_(context),
        stage_(&stage),
        errors_(context),
        quarantine_(context, errors_),
        slots_(context),
        in_flight_(&context.replica_words().in_flight.value) {}

  Result<TaskDone> work(QueueNumber queue, std::uint64_t first) override {
    RecordReader& reader = slots_.begin(queue, first);
    const std::uint64_t before =
        filter_resumed(context_.resumed(queue), first, reader.headers(), reader.states());
    BRIGADE_ASSIGN(const std::uint64_t quarantined,
                   quarantine_.skip(queue, reader.headers(), reader.states()));
    const SlotStates& states = reader.states();
    TaskDone done{
        states.full,
        {states.pads, states.empty_slots - before - quarantined, 0, quarantined, 0, before}};
    BRIGADE_TRY(slots_.writer ? transform(reader, *slots_.writer, first, done)
                              : consume(reader, queue, first, done));
    return done;
  }

 private:
  Result<void> transform(RecordReader& reader, RecordWriter& writer, std::uint64_t first,
                         TaskDone& done) {
    const SlotStates& states = reader.states();
    writer.pass_on(reader.headers(), states);
    for (std::uint64_t slot = 0; slot < states.slots(); ++slot) {
      if (!states.is_full(slot)) continue;
      in_flight_->store(first + slot, std::memory_order_relaxed);
      reader.select(slot);
      writer.select(slot);
      const Inputs in = reader.inputs();
      Outputs out = writer.outputs();
      Result<Next> answer = guarded([&]() -> Result<Next> { return stage_->process(in, out); });
      writer.check_shapes(answer);
      if (emitted(answer)) [[likely]] {
        writer.commit(slot);
        continue;
      }
      BRIGADE_TRY(settle_call(answer, context_, 0, {&in.info(), 1}, errors_));
      writer.make_empty(slot);
      --done.full;
      ++done.not_full.empty_slots;
    }
    in_flight_->store(kNever, std::memory_order_relaxed);
    return {};
  }

  Result<void> consume(RecordReader& reader, QueueNumber queue, std::uint64_t first,
                       TaskDone& done) {
    const SlotStates& states = reader.states();
    const std::uint64_t at = SampleAddress{queue, first}.word();
    Outputs none(no_outputs_);
    for (std::uint64_t slot = 0; slot < states.slots(); ++slot) {
      if (!states.is_full(slot)) continue;
      in_flight_->store(at + slot, std::memory_order_relaxed);
      reader.select(slot);
      const Inputs in = reader.inputs();
      const Result<Next> answer =
          guarded([&]() -> Result<Next> { return stage_->process(in, none); });
      if (emitted(answer)) [[likely]]
        continue;
      BRIGADE_TRY(settle_call(answer, context_, queue, {&in.info(), 1}, errors_));
      --done.full;
      ++done.not_full.empty_slots;
    }
    in_flight_->store(kNever, std::memory_order_relaxed);
    return {};
  }

  ReplicaContext context_;
  Stage* stage_;
  ErrorPolicy errors_;
  Quarantine quarantine_;
  SlotIo slots_;
  Frame no_outputs_;
  SystemPolicy::Atomic<std::uint64_t>* in_flight_;
};

}  // namespace

std::unique_ptr<Work> make_sample_work(const ReplicaContext& context, Stage& stage) {
  return std::make_unique<SampleWork>(context, stage);
}

}  // namespace brigade
