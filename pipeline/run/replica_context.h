#pragma once

// What every part of a replica needs to know: which replica it is, and its words in the control
// segment. Plain pointers; everything outlives the replica.

#include <cstdint>
#include <span>
#include <string>

#include "base/text.h"
#include "pipeline/plan/lane_number.h"
#include "pipeline/plan/plan.h"
#include "pipeline/run/run_reporter.h"
#include "pipeline/run/sampler.h"
#include "pipeline/run/source_names.h"
#include "pipeline/stats/counters.h"
#include "stages/api/stage.h"
#include "transports/layout.h"
#include "transports/row_pool.h"

namespace brigade {

struct ReplicaContext {
  const Plan* plan = nullptr;
  const PlanStage* stage = nullptr;
  int stage_index = 0;
  int replica = 0;
  Control<SystemPolicy>* control = nullptr;
  std::span<const RowPool> pools;  ///< by stage
  RunReporter* reporter = nullptr;
  SourceNames* source_names = nullptr;  ///< for messages; null: no names

  int number() const { return stage->first_replica + replica; }  ///< in the graph
  StageWords<SystemPolicy>& words() const {
    return control->stages[static_cast<std::size_t>(stage_index)];
  }
  ReplicaWords<SystemPolicy>& replica_words() const { return control->replicas[number()]; }
  ReplicaCounters& counters() const { return live_counters(*control, number()); }
  DomainWords<SystemPolicy>& domain_of(int lane) const {
    const auto domain = stage->lanes[static_cast<std::size_t>(lane)].domain;
    return *control->domains[static_cast<std::size_t>(domain)];
  }
  /// Samples of a lane for each of the sources above it.
  std::uint64_t fan_out_above(int lane) const {
    const auto domain = stage->lanes[static_cast<std::size_t>(lane)].domain;
    return plan->domains[static_cast<std::size_t>(domain)].fan_out;
  }
  /// For messages: stage "augment" (replica 1).
  std::string name() const {
    return concat("stage ", quote(stage->name), " (replica ", replica, ")");
  }
};

/// What maps the numbers of `source`'s domain to its samples, once it has opened. They are those of
/// the lanes below it, but for the fan-outs in between (ReplicaContext::fan_out_above).
inline Sampler source_sampler(const Plan& plan, const Control<SystemPolicy>& control,
                              const PlanStage& source) {
  const auto number = static_cast<std::size_t>(source.lanes.front().domain);
  const DomainWords<SystemPolicy>& domain = *control.domains[number];
  // What a cache keeps is this rank's already.
  const PlanShard shard = source.is_cache() ? PlanShard{} : plan.shard;
  return Sampler(
      domain.epoch_samples.value.load(std::memory_order_acquire),
      domain.epoch_period.value.load(std::memory_order_acquire), source.shuffle, source.seed,
      {shard.rank, shard.world, domain.source_samples.value.load(std::memory_order_acquire)});
}
inline Sampler source_sampler(const ReplicaContext& context, const PlanStage& source) {
  return source_sampler(*context.plan, *context.control, source);
}

}  // namespace brigade
