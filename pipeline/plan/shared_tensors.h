#pragma once

// Shared tensors (`shared:`) in numbers: the memory of each,
// and the places of its parts in its segment. Pure functions.
//
//   page 0: whether it is initialized, the mutex for saving | then the elements, in whole pages
//
// Under `access: own_part` part r is the r-th of equal pieces of the first
// dimension. Parts follow one another without gaps, so that all of them together
// are one tensor. If writes beside a part are checked (BRIGADE_POISON), each
// part is at the end of separate pages, with guard bytes before and after it.

#include <cstdint>

#include "pipeline/plan/plan.h"
#include "pipeline/plan/plan_problem.h"

namespace brigade {

struct SharedLayout {
  std::uint64_t part_bytes = 0;  ///< of one part; of all where there are none
  std::uint64_t stride = 0;      ///< from the beginning of one part to the next
  std::uint64_t lead = 0;        ///< in front of each part
  std::uint64_t bytes = 0;       ///< of the segment, page 0 included
};

SharedLayout shared_layout(const PlanShared& shared, bool guarded);

/// Makes plan.shared, when the stages have their replicas.
void plan_shared_tensors(const ValidGraph& graph, Plan& plan, PlanProblems& problems);

/// Of a plan that was read.
Result<void> check_shared_tensors(const Plan& plan);

}  // namespace brigade
