#include "pipeline/records/shared_shape.h"

#include <algorithm>

#include "pipeline/report/counters.h"

namespace brigade {
namespace {

QueueShape queue_shape(const PlanQueue& queue, const ResumePoint& resume) {
  QueueShape shape;
  shape.task = queue.task;
  shape.window = queue.window;
  shape.index_space = queue.index_space;
  shape.in_order = queue.in_order;
  shape.fixed = queue.fixed;
  shape.start = resume.index_space(queue.index_space).start;
  for (const PlanInput& input : queue.inputs) shape.inputs.push_back(input.stage);
  return shape;
}

StageShape stage_shape(const PlanStage& stage, const ResumePoint& resume) {
  StageShape shape;
  shape.first_replica = stage.first_replica;
  shape.replicas = stage.replicas;
  shape.slots = stage.has_ring ? stage.ring.slots : 0;
  shape.fan_out = stage.fan_out;
  shape.source = stage.kind == StageKind::producer || stage.is_cache();
  shape.application = stage.is_output();
  if (stage.is_cache()) shape.interleave = Interleave::cache;
  if (stage.join == Join::epochs) shape.interleave = Interleave::epochs;
  if (stage.flat_map_outputs > 0) shape.journal_ports = static_cast<int>(stage.queues.size()) - 1;
  shape.skips_max = stage.skips_max;
  shape.quarantine_max = kQuarantineMin;
  for (const PlanQueue& queue : stage.queues) {
    shape.queues.push_back(queue_shape(queue, resume));
    if (stage.batched) {
      shape.quarantine_max = std::max(shape.quarantine_max, kQuarantineTasks * queue.task);
    }
  }
  return shape;
}

/// Its source finds out where each epoch ends.
bool has_unknown_length(const Plan& plan, const PlanIndexSpace& index_space) {
  return index_space.above < 0 &&
         std::any_of(index_space.sources.begin(), index_space.sources.end(),
                     [&](StageNumber source) { return !plan.stages[source].indexed; });
}

}  // namespace

SharedShape shared_shape(const Plan& plan, const ResumePoint& resume) {
  SharedShape shape;
  for (const PlanStage& stage : plan.stages) shape.stages.push_back(stage_shape(stage, resume));
  shape.index_spaces = static_cast<int>(plan.index_spaces.size());
  for (const IndexSpaceNumber d : plan.index_spaces.numbers()) {
    const PlanIndexSpace& index_space = plan.index_spaces[d];
    if (index_space.above >= 0)
      shape.derived.push_back({d, index_space.above, index_space.fan_out});
  }
  shape.replicas = plan.replicas;
  for (const IndexSpaceNumber d : plan.index_spaces.numbers()) {
    const bool records = has_unknown_length(plan, plan.index_spaces[d]);
    shape.epoch_ends.push_back(records ? index_space_epochs(plan, d) : 0);
  }
  shape.replica_extra_bytes = kReplicaCounterBytes;
  return shape;
}

std::vector<SlotArray> slot_arrays(const PlanRing& ring) {
  std::vector<SlotArray> arrays;
  for (const PlanTensor& tensor : ring.tensors) {
    arrays.push_back({tensor.offset, tensor.slot_stride});
  }
  return arrays;
}

}  // namespace brigade
