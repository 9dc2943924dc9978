#pragma once

// Shapes as the planner makes them, but for their rings: those have as few slots as a test says, so
// that they go round within a few steps.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include <brigade/text.h>
#include "pipeline/records/shared_shape.h"
#include "tests/support/line.h"
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

/// The shape that the planner gives a line like this one, with rings as large as it makes them.
/// `specs` become what it can express: these slots, and no task words for one replica that works in
/// order.
inline SharedShape planned_line(ByStage<StageSpec>& specs) {
  GraphBuilder graph;
  for (const StageNumber s : specs.numbers()) {
    StageSpec& spec = specs[s];
    std::vector<std::string> from;
    for (const StageNumber input : spec.inputs) from.push_back(concat("s", input.value()));
    const std::string name = concat("s", s.value());
    const Join join = from.size() > 1 ? Join::zip : Join::single;
    ValidStage& stage = from.empty()      ? graph.producer(name, {kPlannedNumber})
                        : spec.slots == 0 ? graph.consumer(name, from, join)
                                          : graph.transform(name, from, {kPlannedNumber}, join);
    stage.chunk = spec.task;
    stage.replicas = static_cast<std::uint64_t>(spec.replicas);
    stage.fixed = spec.fixed;
    stage.outputs_per_input = spec.fan_out;
    if (spec.fan_out > 1) graph.type_of(name).contract.numbering = Numbering::expand;
    if (spec.hold > 1) {
      graph.type_of(name).contract.type = kApplicationType;
      stage.hold = spec.hold;
    }
    spec.in_order = spec.replicas == 1 && spec.hold == 1;
  }
  SharedShape shape = shared_shape(plan_of(graph), {});
  for (const StageNumber s : specs.numbers()) specs[s].slots = shape.stages[s].slots;
  return shape;
}

}  // namespace brigade::support
