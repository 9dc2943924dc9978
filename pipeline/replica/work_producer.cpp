#include <algorithm>
#include <vector>

#include "pipeline/records/record_codec.h"
#include "pipeline/replica/quarantine.h"
#include "pipeline/replica/work.h"

namespace brigade {
namespace {

class ProducerWork final : public Work {
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

  Result<TaskDone> work(QueueNumber, std::uint64_t first) override {
    const SamplePosition place = sampler_.place(first);
    sampler_.enter(place.epoch);
    const auto epoch = static_cast<std::uint32_t>(place.epoch);
    writer_.begin(first);
    const std::uint64_t left = sampler_.samples() - std::min(place.index, sampler_.samples());
    const std::uint64_t real = std::min(task_, left);
    // Apart from the calls, so that the processor works on several at once.
    for (std::uint64_t slot = 0; slot < real; ++slot) ids_[slot] = sampler_.id(place.index + slot);

    const bool any_quarantine = !quarantine_.empty();
    TaskDone done{real, {task_ - real, 0, 0}};
    SlotHeader* headers = writer_.headers();
    for (std::uint64_t slot = 0; slot < real; ++slot) {
      headers[slot] = {first + slot, place.index + slot, ids_[slot], epoch, SlotState::full, {}};
      if (any_quarantine && quarantine_.has(0, first + slot, ids_[slot])) [[unlikely]] {
        const SampleInfo sample = info(headers[slot]);
        BRIGADE_TRY(quarantine_.skipped(0, {&sample, 1}));
        make_empty(headers[slot], done);
        continue;
      }
      in_flight_->store(first + slot, std::memory_order_relaxed);
      writer_.select(slot);
      Outputs out = writer_.outputs();
      Result<Next> answer =
          guarded([&]() -> Result<Next> { return producer_->read(ids_[slot], out); });
      writer_.check_shapes(answer);
      if (emitted(answer)) [[likely]] {
        writer_.commit(slot);
        continue;
      }
      BRIGADE_TRY(settle(answer, headers[slot]));
      make_empty(headers[slot], done);
    }
    for (std::uint64_t slot = real; slot < task_; ++slot)
      headers[slot] = {first + slot, place.index + slot, 0, epoch, SlotState::pad, {}};
    in_flight_->store(kNever, std::memory_order_relaxed);
    return done;
  }

 private:
  static SampleInfo info(const SlotHeader& header) {
    return {header.number, header.index, header.id, header.epoch};
  }

  static void make_empty(SlotHeader& header, TaskDone& done) {
    header.state = SlotState::empty;
    --done.full;
    ++done.not_full.empty_slots;
  }

  Result<void> settle(const Result<Next>& answer, const SlotHeader& header) {
    const SampleInfo sample = info(header);
    return settle_call(answer, context_, 0, {&sample, 1}, errors_);
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
};

}  // namespace

std::unique_ptr<Work> make_producer_work(const ReplicaContext& context, Producer& producer,
                                         const Sampler& sampler) {
  return std::make_unique<ProducerWork>(context, producer, sampler);
}

}  // namespace brigade
