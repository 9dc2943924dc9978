#pragma once

// Asks the machine what it grants this process: cores, memory, descriptors, kernel features. The
// answers go to the planner as plain data.

#include "pipeline/plan/planner/machine_limits.h"

namespace brigade {

/// A millisecond or less; reads /proc, control groups, limits and the environment (what launchers
/// say, CUDA_VISIBLE_DEVICES). What cannot be found out is no limit.
MachineLimits probe_machine();

}  // namespace brigade
