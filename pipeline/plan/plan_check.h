#pragma once

// What must hold in every plan, whoever made it: all indices in range, every task size divides the
// ring it writes or reads and the multiple of its domain, windows fit, arrays do not overlap. A
// worker refuses a plan that fails, instead of crashing on it later. Pure function.

#include "base/result.h"
#include "pipeline/plan/plan.h"

namespace brigade {

/// The first thing that is wrong, with the stage's name.
Result<void> check_plan(const Plan& plan);

}  // namespace brigade
