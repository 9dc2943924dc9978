#include "pipeline/run/graph_shape.h"

#include <algorithm>

#include "pipeline/stats/counters.h"

namespace brigade {
namespace {

LaneShape lane_shape(const Plan& plan, const PlanLane& lane) {
  LaneShape shape;
  shape.task = lane.task;
  shape.window = lane.window;
  shape.domain = lane.domain;
  shape.in_order = lane.in_order;
  shape.fixed = lane.fixed;
  shape.start = plan.domains[static_cast<std::size_t>(lane.domain)].start;
  for (const PlanInput& input : lane.inputs) shape.inputs.push_back(input.stage);
  return shape;
}

StageShape stage_shape(const Plan& plan, const PlanStage& stage) {
  StageShape shape;
  shape.first_replica = stage.first_replica;
  shape.replicas = stage.replicas;
  shape.rows = stage.has_pool ? stage.pool.rows : 0;
  shape.fan_out = stage.fan_out;
  shape.source = stage.kind == StageKind::producer || stage.is_cache();
  if (stage.is_cache()) shape.turns = Turns::cache;
  if (stage.join == Join::epochs) shape.turns = Turns::epochs;
  if (stage.free_outputs > 0) shape.journal_ports = static_cast<int>(stage.lanes.size()) - 1;
  shape.skips_max = stage.skips_max;
  shape.quarantine_max = kQuarantineMin;
  for (const PlanLane& lane : stage.lanes) {
    shape.lanes.push_back(lane_shape(plan, lane));
    if (stage.batched) {
      shape.quarantine_max = std::max(shape.quarantine_max, kQuarantineTasks * lane.task);
    }
  }
  return shape;
}

/// Its source finds out where each epoch ends.
bool has_unknown_length(const Plan& plan, const PlanDomain& domain) {
  return domain.above < 0 &&
         std::any_of(domain.sources.begin(), domain.sources.end(), [&](int source) {
           return !plan.stages[static_cast<std::size_t>(source)].indexed;
         });
}

}  // namespace

GraphShape graph_shape(const Plan& plan) {
  GraphShape shape;
  for (const PlanStage& stage : plan.stages) shape.stages.push_back(stage_shape(plan, stage));
  shape.domains = static_cast<int>(plan.domains.size());
  for (int d = 0; d < shape.domains; ++d) {
    const PlanDomain& domain = plan.domains[static_cast<std::size_t>(d)];
    if (domain.above >= 0) shape.derived.push_back({d, domain.above, domain.fan_out});
  }
  shape.replicas = plan.replicas;
  for (int d = 0; d < shape.domains; ++d) {
    const bool records = has_unknown_length(plan, plan.domains[static_cast<std::size_t>(d)]);
    shape.epoch_ends.push_back(records ? domain_epochs(plan, d) : 0);
  }
  shape.replica_extra_bytes = kReplicaCounterBytes;
  return shape;
}

std::vector<RowArray> row_arrays(const PlanPool& pool) {
  std::vector<RowArray> arrays;
  for (const PlanTensor& tensor : pool.tensors) {
    arrays.push_back({tensor.offset, tensor.row_stride});
  }
  return arrays;
}

}  // namespace brigade
