#pragma once

// The plan of a small line, numbers -> sink, for tests of what comes after the planner.

#include <gtest/gtest.h>

#include "pipeline/plan/planner/planner.h"
#include "tests/support/graph_builder.h"
#include "tests/support/plan_limits.h"

namespace brigade {

inline Plan plan_of(GraphBuilder& graph) {
  PlanResult planned = plan_graph(graph.build(), small_machine());
  for (const PlanProblem& problem : planned.problems) ADD_FAILURE() << problem.message;
  return std::move(planned.plan);
}

/// A producer of one i64 and `sinks` replicas of a consumer.
inline Plan small_plan(std::uint64_t sinks = 1) {
  GraphBuilder graph("small");
  graph.producer("numbers", {{"value", i64, {}}});
  graph.consumer("sink", {"numbers"}).replicas = sinks;
  return plan_of(graph);
}

}  // namespace brigade
