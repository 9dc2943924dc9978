#include <algorithm>
#include <vector>

#include "pipeline/run/quarantine.h"
#include "pipeline/run/record_codec.h"
#include "pipeline/run/task_work.h"

namespace brigade {
namespace {

class ProducerWork final : public TaskWork {
 public:
  ProducerWork(const ReplicaContext& context, Producer& producer, const Sampler& sampler)
      : context_(context),
        producer_(&producer),
        sampler_(sampler),
        errors_(context, &producer),
        quarantine_(context, errors_),
        writer_(*context.plan, *context.stage, context.pools,
                static_cast<std::size_t>(context.stage_index)),
        at_(&context.replica_words().at.value),
        task_(context.stage->lanes.front().task),
        ids_(task_) {}

  Result<TaskDone> work(int, std::uint64_t first) override {
    const Sampler::Place place = sampler_.place(first);
    sampler_.enter(place.epoch);
    writer_.begin(first);
    const std::uint64_t left = sampler_.samples() - std::min(place.index, sampler_.samples());
    const std::uint64_t real = std::min(task_, left);
    // Apart from the calls, so that the processor works on several at once.
    for (std::uint64_t row = 0; row < real; ++row) ids_[row] = sampler_.id(place.index + row);

    const bool any_quarantine = !quarantine_.empty();
    TaskDone done{real, {task_ - real, 0, 0}};
    RowHeader* headers = writer_.headers();
    for (std::uint64_t row = 0; row < real; ++row) {
      headers[row] = {first + row, place.index + row, ids_[row], place.epoch, RowState::full, {}};
      if (any_quarantine && quarantine_.has(0, first + row, ids_[row])) [[unlikely]] {
        const SampleInfo sample = info(headers[row]);
        BRIGADE_TRY(quarantine_.left_out(0, {&sample, 1}));
        make_hole(headers[row], done);
        continue;
      }
      at_->store(first + row, std::memory_order_relaxed);
      writer_.select(row);
      Outputs out = writer_.outputs();
      Result<Next> answer =
          guarded([&]() -> Result<Next> { return producer_->read(ids_[row], out); });
      writer_.check_shapes(answer);
      if (emitted(answer)) [[likely]] {
        writer_.commit(row);
        continue;
      }
      BRIGADE_TRY(settle(answer, headers[row]));
      make_hole(headers[row], done);
    }
    for (std::uint64_t row = real; row < task_; ++row)
      headers[row] = {first + row, place.index + row, 0, place.epoch, RowState::pad, {}};
    at_->store(kNever, std::memory_order_relaxed);
    return done;
  }

 private:
  static SampleInfo info(const RowHeader& header) {
    return {header.number, header.index, header.id, header.epoch};
  }

  static void make_hole(RowHeader& header, TaskDone& done) {
    header.state = RowState::hole;
    --done.full;
    ++done.not_full.holes;
  }

  Result<void> settle(const Result<Next>& answer, const RowHeader& header) {
    const SampleInfo sample = info(header);
    return settle_call(answer, context_, 0, {&sample, 1}, errors_);
  }

  ReplicaContext context_;
  Producer* producer_;
  Sampler sampler_;
  SampleErrors errors_;
  Quarantine quarantine_;
  RecordWriter writer_;
  SystemPolicy::Atomic<std::uint64_t>* at_;
  std::uint64_t task_;
  std::vector<std::uint64_t> ids_;
};

}  // namespace

std::unique_ptr<TaskWork> make_producer_work(const ReplicaContext& context, Producer& producer,
                                             const Sampler& sampler) {
  return std::make_unique<ProducerWork>(context, producer, sampler);
}

}  // namespace brigade
