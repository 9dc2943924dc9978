#pragma once

// Rings in huge pages (`hugepages: true`). Reserved pages are taken out of the system's
// memory for this use only: they are not part of the memory that a plan is checked
// against, and if too few are free, the run is rejected with an error. Pure functions.

#include <string>

#include "pipeline/config/graph/valid_graph.h"
#include "pipeline/plan/plan.h"
#include "pipeline/plan/plan_problem.h"
#include "pipeline/plan/planner/machine_limits.h"

namespace brigade {

/// Of all rings in huge pages.
std::uint64_t huge_bytes(const Plan& plan);

/// "12 huge pages of 2.0 MiB".
std::string huge_pages_text(std::uint64_t bytes);

/// Those that this run may take: what is free, divided among the runs of this machine.
std::uint64_t usable_huge_pages(const MachineLimits& limits);

/// Adds a problem where fewer are free: how many are missing, and how to reserve them.
void check_huge_pages(const ValidGraph& graph, const MachineLimits& limits, const Plan& plan,
                      PlanProblems& problems);

}  // namespace brigade
