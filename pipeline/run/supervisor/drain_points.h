#pragma once

// Where the sources of a graph stop after a stop request. Each continues to the end of its
// claims; but under `join: epochs` a consumer alternates between sources, and can take the claims
// of a later turn only after the earlier turns are over. The sources of earlier turns therefore
// continue to the end of their epoch: otherwise samples would be consumed out of order, or never.

#include <cstdint>
#include <vector>

#include "pipeline/plan/plan.h"
#include "transports/layout.h"

namespace brigade {

/// By index space: the number at which it ends; kNever for those that follow another index space or
/// have no sources. After all sources have acknowledged the stop (transports/stop.h).
ByIndexSpace<std::uint64_t> drain_points(const Plan& plan, Control<SystemPolicy>& control);

}  // namespace brigade
