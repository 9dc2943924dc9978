#include <algorithm>
#include <vector>

#include "pipeline/records/record_codec.h"
#include "pipeline/worker/replica/work.h"
#include "pipeline/worker/tasks/guarded_call.h"
#include "pipeline/worker/tasks/quarantine.h"

namespace brigade {
namespace {

class ProducerWork final : public CallWork {
 public:
  ProducerWork(const ReplicaContext& context, Producer& producer, const Sampler& sampler)
      : context_(context),
        producer_(&producer),
        sampler_(sampler),
        errors_(context, &producer),
        quarantine_(context, errors_),
        writer_(*context.plan, *context.stage, *context.rings, context.stage_index),
        in_flight_(&context.replica_words().in_flight.value),
        task_(context.stage->queues.front().task),
        ids_(task_) {}

  // The same steps as call by call, with all that does not change in registers.
  Result<TaskDone> work(QueueNumber queue, std::uint64_t first) override {
    BRIGADE_TRY(begin(queue, first));
    SlotHeader* const headers = writer_.headers();
    const std::uint64_t real = real_;
    for (std::uint64_t slot = 0; slot < real; ++slot) {
      make_header(headers[slot], first, slot);
      if (any_quarantine_ && is_quarantined(headers[slot])) [[unlikely]] {
        BRIGADE_TRY(skip(headers[slot]));
        continue;
      }
      enter(first, slot);
      Outputs out = writer_.outputs();
      Result<Next> answer =
          guarded([&]() -> Result<Next> { return producer_->read(ids_[slot], out); });
      if (!accept(slot, answer)) [[unlikely]]
        BRIGADE_TRY(refuse(headers[slot], answer));
    }
    return done();
  }

  Result<void> begin(QueueNumber, std::uint64_t first) override {
    place_ = sampler_.place(first);
    sampler_.enter(place_.epoch);
    first_ = first;
    writer_.begin(first);
    const std::uint64_t left = sampler_.samples() - std::min(place_.index, sampler_.samples());
    real_ = std::min(task_, left);
    // Apart from the calls, so that the processor works on several at once.
    for (std::uint64_t slot = 0; slot < real_; ++slot)
      ids_[slot] = sampler_.id(place_.index + slot);
    any_quarantine_ = !quarantine_.empty();
    done_ = {real_, {task_ - real_, 0, 0}};
    next_ = 0;
    return {};
  }

  Result<bool> advance() override { return next_sample(); }

  Call turn() override {
    enter(first_, slot_);
    asked_ = writer_.headers()[slot_];
    asked_.id = sampler_.index(asked_.id);
    return {nullptr, &writer_.outputs().frame(), {&asked_, 1}};
  }

  Result<void> settle(Result<Next>& answer) override {
    return accept(slot_, answer) ? Result<void>() : refuse(writer_.headers()[slot_], answer);
  }

  TaskDone done() override {
    for (std::uint64_t slot = real_; slot < task_; ++slot)
      writer_.headers()[slot] = {{first_ + slot, place_.index + slot, 0, epoch()}, SlotState::pad};
    in_flight_->store(kNever, std::memory_order_relaxed);
    writer_.end(done_.full);
    return done_;
  }

 private:
  std::uint32_t epoch() const { return static_cast<std::uint32_t>(place_.epoch); }

  void make_header(SlotHeader& header, std::uint64_t first, std::uint64_t slot) const {
    header = {{first + slot, place_.index + slot, ids_[slot], epoch()}, SlotState::full};
  }

  bool is_quarantined(const SlotHeader& header) {
    return quarantine_.has(0, header.number, header.id);
  }

  /// The next that is not in quarantine.
  Result<bool> next_sample() {
    while (next_ < real_) {
      slot_ = next_++;
      SlotHeader& header = writer_.headers()[slot_];
      make_header(header, first_, slot_);
      if (!any_quarantine_ || !is_quarantined(header)) return true;
      BRIGADE_TRY(skip(header));
    }
    return false;
  }

  void enter(std::uint64_t first, std::uint64_t slot) {
    in_flight_->store(first + slot, std::memory_order_relaxed);
    writer_.select(slot);
  }

  bool accept(std::uint64_t slot, Result<Next>& answer) {
    writer_.check_shapes(answer);
    if (!emitted(answer)) [[unlikely]]
      return false;
    writer_.commit(slot);
    return true;
  }

  [[gnu::noinline]] Result<void> refuse(SlotHeader& header, const Result<Next>& answer) {
    BRIGADE_TRY(settle_call(answer, context_, 0, samples_of(&header, 1), errors_));
    make_empty(header);
    return {};
  }

  [[gnu::noinline]] Result<void> skip(SlotHeader& header) {
    BRIGADE_TRY(quarantine_.skipped(0, samples_of(&header, 1)));
    make_empty(header);
    return {};
  }

  void make_empty(SlotHeader& header) {
    header.state = SlotState::empty;
    --done_.full;
    ++done_.not_full.empty_slots;
  }

  ReplicaContext context_;
  Producer* producer_;
  Sampler sampler_;
  ErrorPolicy errors_;
  Quarantine quarantine_;
  RecordWriter writer_;
  SystemPolicy::Atomic<std::uint64_t>* in_flight_;
  std::uint64_t task_;
  std::vector<std::uint64_t> ids_;
  // Of the task.
  SamplePosition place_;
  std::uint64_t first_ = 0;
  std::uint64_t real_ = 0;  // those of it that are no padding
  bool any_quarantine_ = false;
  TaskDone done_;
  std::uint64_t next_ = 0;
  std::uint64_t slot_ = 0;
  SampleInfo asked_;  // of a program, which reads by index
};

}  // namespace

std::unique_ptr<CallWork> make_producer_work(const ReplicaContext& context, Producer& producer,
                                             const Sampler& sampler) {
  return std::make_unique<ProducerWork>(context, producer, sampler);
}

}  // namespace brigade
