#pragma once

// The invariants of every plan: all indices in range, every task size divides the ring it
// writes or reads and the multiple of its index space, windows fit, arrays do not overlap. A
// worker rejects a plan that violates one, instead of crashing on it later. Pure functions.

#include <brigade/result.h>
#include "pipeline/plan/resume_point.h"

namespace brigade {

/// The first thing that is wrong, with the stage's name.
Result<void> check_plan(const Plan& plan);
/// Whether a point to resume from is one of this plan, which has been checked.
Result<void> check_resume(const Plan& plan, const ResumePoint& resume);

}  // namespace brigade
