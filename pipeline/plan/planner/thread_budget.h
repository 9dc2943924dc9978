#pragma once

// The number of processes of a stage, whether their
// threads fit the cores of this run, and their cores.
//
// - A transform is taken to want a core per thread. A producer or a consumer with one thread is
//   taken to wait most of the time (for the disk, for the device) and is not counted; with several
//   threads it is.
// - `replicas: auto` shares the cores that the others leave among the stages that say it, evenly,
//   the rest to the earlier ones; at least one replica each, and no more than a graph may have.
//   Stages that work in different turns of `join: epochs` (turns.h) share the same cores. It never
//   changes what a run gives: a stage of which several would (it keeps state, it is a stream, it
//   numbers samples freely) gets one.
// - Single-threaded replicas always fit: the kernel shares the cores, and a line says so. Replicas
//   with several threads do not share well (OMP and torch teams wait for their slowest member), so
//   more of those threads than cores is a problem. `oversubscribe: true` turns both off.
// - Where several runs share the machine and each knows its number, the replicas of each keep to
//   its part of the affinity mask (own_cpus). `cpus:` is taken as it is written.
//
// Pure functions.

#include "pipeline/plan/plan.h"
#include "pipeline/plan/plan_problem.h"
#include "pipeline/plan/planner/machine_limits.h"

namespace brigade {

/// Whether the stage counts among those that want cores.
inline bool wants_cores(StageKind kind, std::uint64_t threads) {
  return kind == StageKind::transform || threads > 1;
}

/// Sets replicas, threads, first_replica and cpus of every stage, and plan.replicas.
void share_cores(const ValidGraph& graph, const MachineLimits& limits, Plan& plan,
                 PlanProblems& problems);

}  // namespace brigade
