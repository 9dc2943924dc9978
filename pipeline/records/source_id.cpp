#include "pipeline/records/source_id.h"

#include "pipeline/records/cache_slots.h"

namespace brigade {

const PlanStage& id_source(const Plan& plan, const PlanStage& stage, QueueNumber queue) {
  const PlanStage* at = &stage;
  const PlanQueue* reads = &stage.queues[queue];
  while (!reads->inputs.empty()) {
    at = &plan.stages[reads->inputs.front().stage];
    reads = &at->queues.front();
  }
  return *at;
}

std::uint64_t source_id(const Plan& plan, const Control<SystemPolicy>& control, StageNumber stage,
                        QueueNumber queue, std::uint64_t number) {
  const PlanStage& planned = plan.stages[stage];
  const PlanStage& source = id_source(plan, planned, queue);
  const IndexSpaceNumber index_space = planned.queues[queue].index_space;
  const std::uint64_t samples = control.index_spaces[index_space]->epoch_samples.value.load();
  const std::uint64_t period = control.index_spaces[index_space]->epoch_period.value.load();
  if (!source.indexed || samples == kNever || period == 0) return number;
  const std::uint64_t fan_out = plan.index_spaces[index_space].fan_out;
  Sampler sampler = source_sampler(plan, control, source);
  const SamplePosition place = sampler.place(number / fan_out);
  sampler.enter(place.epoch);
  if (place.index * fan_out >= samples) return number;
  const std::uint64_t id = sampler.id(place.index);
  return (source.is_cache() ? cached_id(plan, id) : id) * fan_out + number % fan_out;
}

Sampler source_sampler(const Plan& plan, const Control<SystemPolicy>& control,
                       const PlanStage& source) {
  const IndexSpaceWords<SystemPolicy>& index_space =
      *control.index_spaces[source.queues.front().index_space];
  // What a cache keeps is this rank's already.
  const Shard shard = source.is_cache() ? Shard{} : plan.shard;
  return Sampler(
      index_space.epoch_samples.value.load(std::memory_order_acquire),
      index_space.epoch_period.value.load(std::memory_order_acquire), source.shuffle, source.seed,
      {shard.rank, shard.world, index_space.source_samples.value.load(std::memory_order_acquire)});
}

}  // namespace brigade
