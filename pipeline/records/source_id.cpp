#include "pipeline/records/source_id.h"

#include <utility>

#include "pipeline/records/cache_slots.h"

namespace brigade {

namespace {

/// What a cache keeps is this rank's already, and it takes the first of it; so does one rank of a
/// source whose front is read. All others depend on how large the source is.
bool needs_found(const Plan& plan, const PlanStage& source) {
  return !source.is_cache() && (plan.shard.world > 1 || !is_front(source));
}

}  // namespace

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
                        QueueNumber queue, std::uint64_t number, const Draws* draws) {
  const PlanStage& planned = plan.stages[stage];
  const PlanStage& source = id_source(plan, planned, queue);
  const IndexSpaceNumber index_space = planned.queues[queue].index_space;
  const std::uint64_t samples = control.index_spaces[index_space]->epoch_samples.value.load();
  const std::uint64_t period = control.index_spaces[index_space]->epoch_period.value.load();
  if (!source.indexed || samples == kNever || period == 0) return number;
  if (is_drawn(source) && draws == nullptr) return number;
  if (needs_found(plan, source) && found_samples(plan, control, source) == 0) return number;
  const std::uint64_t fan_out = plan.index_spaces[index_space].fan_out;
  Sampler sampler = source_sampler(plan, control, source, draws);
  const SamplePosition place = sampler.place(number / fan_out);
  sampler.enter(place.epoch);
  if (place.index * fan_out >= samples) return number;
  const std::uint64_t id = sampler.id(place.index);
  return (source.is_cache() ? cached_id(plan, id) : id) * fan_out + number % fan_out;
}

std::uint64_t found_samples(const Plan& plan, const Control<SystemPolicy>& control,
                            const PlanStage& source) {
  return control.stages[plan.stages.number_of(source)].source_samples->value.load(
      std::memory_order_acquire);
}

Sampler source_sampler(const Plan& plan, const Control<SystemPolicy>& control,
                       const PlanStage& source, const Draws* draws) {
  const IndexSpaceWords<SystemPolicy>& index_space =
      *control.index_spaces[source.queues.front().index_space];
  const std::uint64_t samples = index_space.epoch_samples.value.load(std::memory_order_acquire);
  const std::uint64_t period = index_space.epoch_period.value.load(std::memory_order_acquire);
  if (draws != nullptr)
    return Sampler(samples, period, source.shuffle, source.seed,
                   ShardPart{plan.shard.rank, plan.shard.world, draws->size()}, draws);
  if (!needs_found(plan, source)) return Sampler(samples, period, source.shuffle, source.seed);
  Subset subset(source, source.seed, found_samples(plan, control, source));
  const ShardPart part{plan.shard.rank, plan.shard.world, subset.size()};
  return Sampler(samples, period, source.shuffle, source.seed, part, std::move(subset));
}

}  // namespace brigade
