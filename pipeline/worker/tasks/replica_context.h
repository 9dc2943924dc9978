#pragma once

// The context of all parts of a replica: its identity, and its words in
// the control segment. Plain pointers; everything outlives the replica.

#include <cstdint>

#include <brigade/stage.h>
#include "pipeline/plan/resume_point.h"
#include "pipeline/plan/sample_address.h"
#include "pipeline/records/device_rings.h"
#include "pipeline/records/source_id.h"
#include "pipeline/report/counters.h"
#include "pipeline/worker/tasks/run_reporter.h"
#include "pipeline/worker/tasks/source_names.h"
#include "transports/layout.h"
#include "transports/slot_ring.h"

namespace brigade {

struct ReplicaContext {
  const Plan* plan = nullptr;
  const ResumePoint* resume = nullptr;
  const PlanStage* stage = nullptr;
  StageNumber stage_index = 0;
  int replica = 0;
  Control<SystemPolicy>* control = nullptr;
  const ByStage<SlotRing>* rings = nullptr;
  RunReporter* reporter = nullptr;
  SourceNames* source_names = nullptr;  ///< for messages; null: no names
  DeviceRings* device = nullptr;        ///< null: no tensors of its lie on a device

  int number() const { return stage->first_replica + replica; }  ///< in the graph
  StageWords<SystemPolicy>& words() const { return control->stages[stage_index]; }
  ReplicaWords<SystemPolicy>& replica_words() const { return control->replicas[number()]; }
  ReplicaCounters& counters() const { return live_counters(*control, number()); }
  IndexSpaceWords<SystemPolicy>& index_space_of(QueueNumber queue) const {
    return *control->index_spaces[stage->queues[queue].index_space];
  }
  /// Samples of a task queue for each of the sources above it.
  std::uint64_t fan_out_above(QueueNumber queue) const {
    return plan->index_spaces[stage->queues[queue].index_space].fan_out;
  }
  const SlotRing& own_ring() const { return (*rings)[stage_index]; }
  const ResumeStage& resumed() const { return resume->stage(stage_index); }
  const ResumeQueue& resumed(QueueNumber queue) const { return resume->queue(stage_index, queue); }
};

/// brigade::source_sampler() of this graph.
inline Sampler source_sampler(const ReplicaContext& context, const PlanStage& source,
                              const Draws* draws = nullptr) {
  return source_sampler(*context.plan, *context.control, source, draws);
}

}  // namespace brigade
