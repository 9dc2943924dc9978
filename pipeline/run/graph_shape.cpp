#include "pipeline/run/graph_shape.h"

#include <algorithm>

#include "pipeline/stats/counters.h"

namespace brigade {
namespace {

LaneShape lane_shape(const PlanLane& lane) {
  LaneShape shape;
  shape.task = lane.task;
  shape.window = lane.window;
  shape.domain = lane.domain;
  shape.in_order = lane.in_order;
  shape.fixed = lane.fixed;
  shape.wake_every = lane.wake_every;
  for (const PlanInput& input : lane.inputs) shape.inputs.push_back(input.stage);
  return shape;
}

StageShape stage_shape(const PlanStage& stage) {
  StageShape shape;
  shape.first_replica = stage.first_replica;
  shape.replicas = stage.replicas;
  shape.rows = stage.has_pool ? stage.pool.rows : 0;
  shape.source = stage.lanes.front().inputs.empty();
  shape.skips_max = stage.skips_max;
  shape.quarantine_max = kQuarantineMin;
  for (const PlanLane& lane : stage.lanes) {
    shape.lanes.push_back(lane_shape(lane));
    if (stage.batched) {
      shape.quarantine_max = std::max(shape.quarantine_max, kQuarantineTasks * lane.task);
    }
  }
  return shape;
}

}  // namespace

GraphShape graph_shape(const Plan& plan) {
  GraphShape shape;
  for (const PlanStage& stage : plan.stages) shape.stages.push_back(stage_shape(stage));
  shape.domains = static_cast<int>(plan.domains.size());
  shape.replicas = plan.replicas;
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
