#include <memory>
#include <optional>
#include <utility>

#include "pipeline/worker/replica/work.h"
#include "pipeline/worker/tasks/guarded_call.h"
#include "pipeline/worker/tasks/held_task.h"
#include "pipeline/worker/tasks/quarantine.h"
#include "pipeline/worker/tasks/resume_filter.h"
#include "pipeline/worker/tasks/slot_io.h"

namespace brigade {
namespace {

class BatchWork final : public CallWork {
 public:
  BatchWork(const ReplicaContext& context, Stage& stage, std::shared_ptr<KeptTasks> kept)
      : context_(context),
        stage_(&stage),
        errors_(context),
        quarantine_(context, errors_),
        kept_(std::move(kept)),
        in_flight_(&context.replica_words().in_flight.value),
        fixed_(context.stage->queues.front().fixed) {
    if (!kept_) slots_ = &own_slots_.emplace(context);
  }

  Result<TaskDone> work(QueueNumber queue, std::uint64_t first) override {
    BRIGADE_TRY(begin(queue, first));
    if (!due_) return done();
    const Call call = turn();
    Outputs none(no_outputs_);
    Outputs out = call.out != nullptr ? Outputs(*call.out) : none;
    Result<Next> answer =
        guarded([&]() -> Result<Next> { return stage_->process(Inputs(*call.in), out); });
    BRIGADE_TRY(settle(answer));
    return done();
  }

  Result<void> begin(QueueNumber queue, std::uint64_t first) override {
    if (kept_) slots_ = &kept_->slots();
    RecordReader& reader = slots_->begin(queue, first);
    SlotStates& states = reader.states();
    const ResumeQueue& resumed = context_.resumed(queue);
    const std::uint64_t before = filter_resumed(resumed, first, reader.headers(), states);
    BRIGADE_ASSIGN(const std::uint64_t quarantined,
                   quarantine_.skip(queue, reader.headers(), states));
    done_ = {states.full,
             {states.pads, states.empty_slots - before - quarantined, 0, quarantined, 0, before}};
    if (context_.device != nullptr) BRIGADE_TRY(check_contiguous(states));
    const bool skipped = context_.stage->drop_last && is_short(queue, first, states);
    if (skipped) skip(states, done_);
    if (slots_->writer) slots_->writer->pass_on(reader.headers(), states);
    const bool had_it = was_consumed(resumed, first, reader.headers()[0]);
    due_ = states.full > 0 || (!skipped && !had_it && fixed_);
    reader_ = &reader;
    queue_ = queue;
    first_ = first;
    return {};
  }

  Result<bool> advance() override { return std::exchange(due_, false); }

  Call turn() override {
    const SlotStates& states = reader_->states();
    in_flight_->store(SampleAddress{queue_, first_ + states.first_full}.word(),
                      std::memory_order_relaxed);
    reader_->select_full();
    if (!slots_->writer) return {&reader_->inputs().frame(), nullptr, reader_->samples()};
    slots_->writer->select_full(states);
    return {&reader_->inputs().frame(), &slots_->writer->outputs().frame(), reader_->samples()};
  }

  Result<void> settle(Result<Next>& answer) override {
    // What it told the device is done before the task can be: slots are written, or read.
    if (context_.device != nullptr) BRIGADE_TRY(context_.device->wait());
    const SlotStates& states = reader_->states();
    if (slots_->writer) slots_->writer->check_shapes(answer);
    if (emitted(answer)) [[likely]] {
      if (slots_->writer) slots_->writer->commit_full(states);
      return {};
    }
    BRIGADE_TRY(settle_call(answer, context_, queue_, reader_->samples(), errors_));
    done_.full = 0;
    done_.not_full.empty_slots += states.full;
    if (slots_->writer) make_empty_slots(*slots_->writer, states);
    return {};
  }

  TaskDone done() override {
    in_flight_->store(kNever, std::memory_order_relaxed);
    if (slots_->writer) slots_->writer->end(done_.full);
    return done_;
  }

 private:
  /// Batches on a device are not gathered around what is missing in their middle.
  static Result<void> check_contiguous(const SlotStates& states) {
    if (states.contiguous()) return {};
    return Error{
        "samples are missing in the middle of a batch (quarantined, or finished before this run "
        "resumed), and `memory: device` cannot close the gap; omit `memory:`"};
  }

  /// Under `assign: fixed` the tasks of a round are short together, so that counts stay equal.
  bool is_short(QueueNumber queue, std::uint64_t first, const SlotStates& states) const {
    if (!fixed_ || context_.stage->replicas == 1) return states.pads > 0;
    const IndexSpaceWords<SystemPolicy>& index_space = context_.index_space_of(queue);
    const std::uint64_t round =
        context_.stage->queues[queue].task * static_cast<std::uint64_t>(context_.stage->replicas);
    const std::uint64_t index =
        first % index_space.epoch_period.value.load(std::memory_order_acquire);
    return (index / round + 1) * round >
           index_space.epoch_samples.value.load(std::memory_order_acquire);
  }

  /// `drop_last`: the samples of a short batch are empty slots from here on.
  static void skip(SlotStates& states, TaskDone& done) {
    done.not_full.dropped = states.full;
    done.full = 0;
    for (SlotState& state : states.states)
      if (state == SlotState::full) state = SlotState::empty;
    states.count();
  }

  static void make_empty_slots(RecordWriter& writer, const SlotStates& states) {
    for (std::uint64_t slot = 0; slot < states.slots(); ++slot)
      if (states.is_full(slot)) writer.make_empty(slot);
  }

  ReplicaContext context_;
  Stage* stage_;
  ErrorPolicy errors_;
  Quarantine quarantine_;
  std::shared_ptr<KeptTasks> kept_;
  std::optional<SlotIo> own_slots_;
  SlotIo* slots_ = nullptr;  // of the task
  Frame no_outputs_;
  SystemPolicy::Atomic<std::uint64_t>* in_flight_;
  bool fixed_;  // then batches without a sample are delivered too
  // Of the task.
  RecordReader* reader_ = nullptr;
  QueueNumber queue_ = 0;
  std::uint64_t first_ = 0;
  TaskDone done_;
  bool due_ = false;
};

}  // namespace

std::unique_ptr<CallWork> make_batch_work(const ReplicaContext& context, Stage& stage,
                                          std::shared_ptr<KeptTasks> kept) {
  return std::make_unique<BatchWork>(context, stage, std::move(kept));
}

}  // namespace brigade
