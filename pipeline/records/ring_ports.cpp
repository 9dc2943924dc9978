#include "pipeline/records/ring_ports.h"

#include <algorithm>

#include <brigade/check.h>
#include "pipeline/plan/planner/memory_budget.h"

namespace brigade {

std::size_t array_index(const PlanRing& ring, std::string_view name) {
  for (std::size_t i = 0; i < ring.tensors.size(); ++i)
    if (ring.tensors[i].type.name == name) return i;
  BRIGADE_CHECK(false, "the plan names a tensor that its ring lacks:", name);
  return 0;
}

bool is_shape_array(const PlanRing& ring, std::size_t i) {
  return i > 0 && ring.tensors[i - 1].type.ragged() &&
         ring.tensors[i].type.name == ring.tensors[i - 1].type.name + ".shape";
}

bool is_passed(const PlanStage& stage, const std::string& name) {
  return std::any_of(stage.passes.begin(), stage.passes.end(),
                     [&](const PlanPass& pass) { return pass.name == name; });
}

Ports input_ports(const Plan& plan, const PlanStage& stage) {
  std::size_t sources = 0;
  for (const PlanQueue& queue : stage.queues) sources += queue.inputs.size();
  Ports ports;
  for (const PlanQueue& queue : stage.queues) {
    for (const PlanInput& input : queue.inputs) {
      const PlanRing& ring = plan.stages[input.stage].ring;
      for (const std::string& name : input.tensors) {
        const std::size_t array = array_index(ring, name);
        if (is_shape_array(ring, array)) continue;
        TensorType type = ring.tensors[array].type;
        if (sources > 1) type.name = input.port + "." + type.name;
        ports.tensors.push_back(std::move(type));
      }
    }
  }
  return ports;
}

Ports own_outputs(const PlanStage& stage) {
  Ports ports;
  if (!stage.has_ring) return ports;
  for (std::size_t i = 0; i < stage.ring.tensors.size(); ++i) {
    const TensorType& type = stage.ring.tensors[i].type;
    if (!is_passed(stage, type.name) && !is_shape_array(stage.ring, i))
      ports.tensors.push_back(type);
  }
  return ports;
}

std::vector<InputMemory> dense_inputs(const Plan& plan, const PlanStage& stage,
                                      const ByStage<SlotRing>& rings) {
  std::vector<InputMemory> memory;
  for (const ReadArray& one : arrays_to_pin(plan, stage))
    memory.push_back({rings[one.source].slot(one.array, 0), one.bytes});
  return memory;
}

}  // namespace brigade
