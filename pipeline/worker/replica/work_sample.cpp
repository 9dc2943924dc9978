#include "pipeline/worker/replica/work.h"
#include "pipeline/worker/tasks/guarded_call.h"
#include "pipeline/worker/tasks/quarantine.h"
#include "pipeline/worker/tasks/resume_filter.h"
#include "pipeline/worker/tasks/slot_io.h"

namespace brigade {
namespace {

class SampleWork final : public CallWork {
 public:
  SampleWork(const ReplicaContext& context, Stage& stage)
      : context_(context),
        stage_(&stage),
        errors_(context),
        quarantine_(context, errors_),
        slots_(context),
        in_flight_(&context.replica_words().in_flight.value) {}

  Result<TaskDone> work(QueueNumber queue, std::uint64_t first) override {
    BRIGADE_TRY(begin(queue, first));
    BRIGADE_TRY(slots_.writer ? transform(*reader_, *slots_.writer) : consume(*reader_));
    return done();
  }

  Result<void> begin(QueueNumber queue, std::uint64_t first) override {
    RecordReader& reader = slots_.begin(queue, first);
    const std::uint64_t before =
        filter_resumed(context_.resumed(queue), first, reader.headers(), reader.states());
    BRIGADE_ASSIGN(const std::uint64_t quarantined,
                   quarantine_.skip(queue, reader.headers(), reader.states()));
    const SlotStates& states = reader.states();
    done_ = {states.full,
             {states.pads, states.empty_slots - before - quarantined, 0, quarantined, 0, before}};
    if (slots_.writer) slots_.writer->pass_on(reader.headers(), states);
    reader_ = &reader;
    queue_ = queue;
    address_ = SampleAddress{queue, first}.word();
    next_ = 0;
    return {};
  }

  Result<bool> advance() override { return find_full(); }

  Call turn() override {
    enter(*reader_, slot_);
    if (!slots_.writer) return {&reader_->inputs().frame(), nullptr, reader_->samples()};
    slots_.writer->select(slot_);
    return {&reader_->inputs().frame(), &slots_.writer->outputs().frame(), reader_->samples()};
  }

  Result<void> settle(Result<Next>& answer) override {
    const bool fine = slots_.writer ? accept(*slots_.writer, slot_, answer) : emitted(answer);
    return fine ? Result<void>() : refuse(slot_, answer);
  }

  TaskDone done() override {
    in_flight_->store(kNever, std::memory_order_relaxed);
    if (slots_.writer) slots_.writer->end(done_.full);
    return done_;
  }

 private:
  // The calls of a whole task: the same steps, with all that does not change in registers.
  Result<void> transform(RecordReader& reader, RecordWriter& writer) {
    const SlotStates& states = reader.states();
    for (std::uint64_t slot = 0; slot < states.slots(); ++slot) {
      if (!states.is_full(slot)) continue;
      enter(reader, slot);
      writer.select(slot);
      const Inputs in = reader.inputs();
      Outputs out = writer.outputs();
      Result<Next> answer = guarded([&]() -> Result<Next> { return stage_->process(in, out); });
      if (!accept(writer, slot, answer)) [[unlikely]]
        BRIGADE_TRY(refuse(slot, answer));
    }
    return {};
  }

  Result<void> consume(RecordReader& reader) {
    const SlotStates& states = reader.states();
    Outputs none(no_outputs_);
    for (std::uint64_t slot = 0; slot < states.slots(); ++slot) {
      if (!states.is_full(slot)) continue;
      enter(reader, slot);
      const Inputs in = reader.inputs();
      const Result<Next> answer =
          guarded([&]() -> Result<Next> { return stage_->process(in, none); });
      if (!emitted(answer)) [[unlikely]]
        BRIGADE_TRY(refuse(slot, answer));
    }
    return {};
  }

  void enter(RecordReader& reader, std::uint64_t slot) {
    in_flight_->store(address_ + slot, std::memory_order_relaxed);
    reader.select(slot);
  }

  static bool accept(RecordWriter& writer, std::uint64_t slot, Result<Next>& answer) {
    writer.check_shapes(answer);
    if (!emitted(answer)) [[unlikely]]
      return false;
    writer.commit(slot);
    return true;
  }

  [[gnu::noinline]] Result<void> refuse(std::uint64_t slot, const Result<Next>& answer) {
    BRIGADE_TRY(settle_call(answer, context_, queue_, {&reader_->samples().front(), 1}, errors_));
    if (slots_.writer) slots_.writer->make_empty(slot);
    --done_.full;
    ++done_.not_full.empty_slots;
    return {};
  }

  bool find_full() {
    const SlotStates& states = reader_->states();
    while (next_ < states.slots() && !states.is_full(next_)) ++next_;
    slot_ = next_++;
    return slot_ < states.slots();
  }

  ReplicaContext context_;
  Stage* stage_;
  ErrorPolicy errors_;
  Quarantine quarantine_;
  SlotIo slots_;
  Frame no_outputs_;
  SystemPolicy::Atomic<std::uint64_t>* in_flight_;
  // Of the task.
  RecordReader* reader_ = nullptr;
  QueueNumber queue_ = 0;
  std::uint64_t address_ = 0;
  TaskDone done_;
  std::uint64_t next_ = 0;
  std::uint64_t slot_ = 0;
};

}  // namespace

std::unique_ptr<CallWork> make_sample_work(const ReplicaContext& context, Stage& stage) {
  return std::make_unique<SampleWork>(context, stage);
}

}  // namespace brigade
