#pragma once

// A machine for tests of the plan: 2 cores, 8 GiB, 4096 descriptors.

#include "pipeline/plan/planner/machine_limits.h"

namespace brigade {

inline MachineLimits small_machine() {
  MachineLimits limits;
  limits.cores_affinity = 2;
  limits.memory_available_bytes = 8ull << 30;
  limits.descriptors_hard = 4096;
  return limits;
}

}  // namespace brigade
