#pragma once

// How many processes a stage gets and whether their threads fit the cores of this run.
//
// - A transform is taken to want a core per thread. A producer or a consumer with one thread is
//   taken to wait most of the time (for the disk, for the device) and is not counted; with several
//   threads it is.
// - `replicas: auto` shares the cores that the others leave among the stages that say it, evenly,
//   the rest to the earlier ones; at least one replica each.
// - Single-threaded replicas always fit: the kernel shares the cores, and a line says so. Replicas
//   with several threads do not share well (OMP and torch teams wait for their slowest member), so
//   more of those threads than cores is a problem, unless `oversubscribe: true`.
//
// Pure functions.

#include "pipeline/plan/machine_limits.h"
#include "pipeline/plan/plan.h"
#include "pipeline/plan/plan_problem.h"

namespace brigade {

/// Sets replicas, threads and first_replica of every stage, and plan.replicas.
void share_cores(const ValidGraph& graph, const MachineLimits& limits, Plan& plan,
                 PlanProblems& problems);

}  // namespace brigade
