#pragma once

// Shapes as the planner makes them, but for their rings: those have as few rows as a test says, so
// that they go round within a few steps.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <vector>

#include "pipeline/run/graph_shape.h"
#include "tests/support/small_plan.h"

namespace brigade::support {

inline const TensorType kPlannedNumber{"number", i64, {}};

/// `rows`: of each stage's ring, in the order of the plan; 0 for a stage without one.
inline GraphShape planned_shape(GraphBuilder& graph, const std::vector<std::uint64_t>& rows) {
  GraphShape shape = graph_shape(plan_of(graph));
  BRIGADE_CHECK(rows.size() == shape.stages.size(), rows.size(), shape.stages.size());
  shape.replica_extra_bytes = 0;  // counters
  for (std::size_t s = 0; s < rows.size(); ++s) {
    StageShape& stage = shape.stages[s];
    stage.rows = rows[s];
    for (LaneShape& lane : stage.lanes) {
      if (stage.journal_ports > 0) continue;
      std::uint64_t window = rows[s] / (lane.task * stage.fan_out);
      const bool reads_only = stage.rows == 0 || &lane != stage.lanes.data();
      for (const int input : lane.inputs) {
        const std::uint64_t of_input = rows[static_cast<std::size_t>(input)] / lane.task;
        if (reads_only) window = window == 0 ? of_input : std::min(window, of_input);
      }
      lane.window = window;
    }
  }
  return shape;
}

}  // namespace brigade::support
