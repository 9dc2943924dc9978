#pragma once

// ValidGraph + MachineLimits -> Plan. The planner decides everything that is decided before a run:
// replicas, threads, task sizes, slots, places in memory. It is pure (no file, no clock, no
// environment) and takes microseconds; the same graph and limits give the same plan.
//
//   const PlanResult planned = plan_graph(graph, limits);
//   if (!planned.ok()) show(planned.problems);   // all of them, each with its place in the YAML

#include "pipeline/plan/plan.h"
#include "pipeline/plan/plan_problem.h"
#include "pipeline/plan/planner/machine_limits.h"

namespace brigade {

struct PlanResult {
  Plan plan;              ///< complete only when ok()
  PlanProblems problems;  ///< in the order of the stages where they have one
  bool ok() const { return problems.empty(); }
};

/// The graph must come from validate(): indices in range, sources before readers. Every number in
/// it may be as large as its type allows.
PlanResult plan_graph(const ValidGraph& graph, const MachineLimits& limits);

inline constexpr std::uint64_t kSkipsMax = 1 << 20;  ///< entries of a skip list at most

}  // namespace brigade
