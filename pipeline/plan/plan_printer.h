#pragma once

// The plan as text for people: what `brigade plan` shows. Processes and their tasks, every ring as
// a sum with a line per holder, memory against the machine, then what deserves a warning. The text
// has golden tests. Pure function.

#include <string>

#include "pipeline/plan/machine_limits.h"
#include "pipeline/plan/plan.h"

namespace brigade {

/// `room`: what the run may take, from memory_room().
std::string print_plan(const Plan& plan, const MachineLimits& limits, const MemoryRoom& room);

}  // namespace brigade
