#pragma once

// Shapes as the planner makes them, but for their rings: those have as few slots as a test says, so
// that they go round within a few steps.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <vector>

#include "pipeline/records/shared_shape.h"
#include "tests/support/small_plan.h"

namespace brigade::support {

inline const TensorType kPlannedNumber{"number", i64, {}};

/// `slots`: of each stage's ring; 0 for a stage without one.
inline SharedShape planned_shape(GraphBuilder& graph, const ByStage<std::uint64_t>& slots) {
  SharedShape shape = shared_shape(plan_of(graph), {});
  BRIGADE_CHECK(slots.size() == shape.stages.size(), slots.size(), shape.stages.size());
  shape.replica_extra_bytes = 0;  // counters
  for (const StageNumber s : slots.numbers()) {
    StageShape& stage = shape.stages[s];
    stage.slots = slots[s];
    for (QueueShape& queue : stage.queues) {
      if (stage.journal_ports > 0) continue;
      std::uint64_t window = slots[s] / (queue.task * stage.fan_out);
      const bool reads_only = stage.slots == 0 || &queue != stage.queues.data();
      for (const StageNumber input : queue.inputs) {
        const std::uint64_t of_input = slots[input] / queue.task;
        if (reads_only) window = window == 0 ? of_input : std::min(window, of_input);
      }
      queue.window = window;
    }
  }
  return shape;
}

}  // namespace brigade::support
