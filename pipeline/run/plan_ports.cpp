#include "pipeline/run/plan_ports.h"

#include <algorithm>

#include "base/check.h"

namespace brigade {

std::size_t array_index(const PlanPool& pool, std::string_view name) {
  for (std::size_t i = 0; i < pool.tensors.size(); ++i)
    if (pool.tensors[i].type.name == name) return i;
  BRIGADE_CHECK(false, "the plan names a tensor that its pool lacks:", name);
  return 0;
}

bool is_shape_array(const PlanPool& pool, std::size_t i) {
  return i > 0 && pool.tensors[i - 1].type.ragged() &&
         pool.tensors[i].type.name == pool.tensors[i - 1].type.name + ".shape";
}

bool is_passed(const PlanStage& stage, const std::string& name) {
  return std::any_of(stage.passes.begin(), stage.passes.end(),
                     [&](const PlanPass& pass) { return pass.name == name; });
}

Ports input_ports(const Plan& plan, const PlanStage& stage) {
  std::size_t sources = 0;
  for (const PlanLane& lane : stage.lanes) sources += lane.inputs.size();
  Ports ports;
  for (const PlanLane& lane : stage.lanes) {
    for (const PlanInput& input : lane.inputs) {
      const PlanPool& pool = plan.stages[static_cast<std::size_t>(input.stage)].pool;
      for (const std::string& name : input.tensors) {
        const std::size_t array = array_index(pool, name);
        if (is_shape_array(pool, array)) continue;
        TensorType type = pool.tensors[array].type;
        if (sources > 1) type.name = input.port + "." + type.name;
        ports.tensors.push_back(std::move(type));
      }
    }
  }
  return ports;
}

Ports own_outputs(const PlanStage& stage) {
  Ports ports;
  if (!stage.has_pool) return ports;
  for (std::size_t i = 0; i < stage.pool.tensors.size(); ++i) {
    const TensorType& type = stage.pool.tensors[i].type;
    if (!is_passed(stage, type.name) && !is_shape_array(stage.pool, i))
      ports.tensors.push_back(type);
  }
  return ports;
}

}  // namespace brigade
