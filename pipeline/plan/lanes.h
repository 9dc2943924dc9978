#pragma once

// First step of the planner: the lanes of every stage and the domains that number their samples.
//
// A lane is a task table with a low-water mark. A stage has one; a consumer under `join: epochs` or
// `merge` has one per source, so that a task never mixes inputs. A domain is what counts samples:
// the producers joined by zips, and every lane below them. Below stages that make k samples of each
// there is a domain derived from it, whose numbers are k for each of its own; all branches with the
// same k share it, so that they can be zipped. Pure functions.

#include "pipeline/plan/plan.h"
#include "pipeline/plan/plan_problem.h"

namespace brigade {

/// The lane of a stage that reads its source `i`.
inline std::size_t lane_of_source(const PlanStage& stage, std::size_t i) {
  const std::size_t first = stage.has_output_lane() ? 1 : 0;
  return stage.lanes.size() > first + 1 ? first + i : first;
}

/// Sets lanes (their inputs) and fan-out of every stage and the readers of every pool. plan.stages
/// has one entry per stage of the graph. Task sizes and windows come later.
void make_lanes(const ValidGraph& graph, Plan& plan);

/// Sets plan.domains (all but their multiples) and the domain of every lane and pool. A problem
/// where a zip has sources that are numbered differently, and where `join: epochs` would stand
/// still for ever: a stage reads one domain to the end of an epoch before it touches the next, so
/// domains must have an order in which all such stages agree, and no stage may wait for a domain
/// that it holds up itself.
void number_domains(const ValidGraph& graph, Plan& plan, PlanProblems& problems);

/// The domain that `domain` is derived from; itself where it is not derived.
inline int root_domain(const Plan& plan, int domain) {
  const int above = plan.domains[static_cast<std::size_t>(domain)].above;
  return above < 0 ? domain : above;
}

}  // namespace brigade
