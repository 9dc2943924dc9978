#pragma once

// Reads the limits of the machine for this process: cores, memory,
// descriptors, kernel features. The planner gets them as plain data.

#include "pipeline/plan/planner/machine_limits.h"

namespace brigade {

/// A millisecond or less; reads /proc, control groups, limits and the environment (what launchers
/// say, CUDA_VISIBLE_DEVICES). What cannot be found out is no limit.
MachineLimits probe_machine();

}  // namespace brigade
