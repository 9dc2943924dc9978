#pragma once

// Shared tensors (`shared:`) in numbers: what each takes, and where its parts lie in its segment.
// Pure functions.
//
//   page 0: whether it is initialised, the mutex of who saves | then the elements, in whole pages
//
// Under `access: own_part` part r is the r-th of equal pieces of the first dimension. Parts follow
// one another without room, so that whoever sees all of them sees one tensor. Where writing beside
// a part is looked for (BRIGADE_POISON), each has pages of its own and stands at their end, with
// bytes in front and behind that nobody may write.

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
