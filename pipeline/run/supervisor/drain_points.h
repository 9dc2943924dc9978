#pragma once

// Where the sources of a graph stop when it is asked to. Each goes on to the end of what it has
// claimed; but under `join: epochs` a consumer takes turns, and what a later turn has claimed it
// may take only once the earlier ones are over. So the sources of earlier turns go on to the end of
// their epoch: else samples would be consumed out of turn, or never.

#include <cstdint>
#include <vector>

#include "pipeline/plan/plan.h"
#include "transports/layout.h"

namespace brigade {

/// By index space: the number at which it ends; kNever for those that follow another index space or
/// have no sources. After all sources have acknowledged the stop (transports/stop.h).
ByIndexSpace<std::uint64_t> drain_points(const Plan& plan, Control<SystemPolicy>& control);

}  // namespace brigade
