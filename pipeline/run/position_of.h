#pragma once

// Where a consumer stands, from the words in shared memory. Exact while the consumer does nothing:
// called by its only replica between two tasks, or by the supervisor once its replicas have ended.

#include "pipeline/plan/plan.h"
#include "pipeline/plan/position.h"
#include "transports/layout.h"

namespace brigade {

/// `stage`: a consumer. Where samples are numbered anew above it, it stands at the beginning of its
/// epoch. Without digest.
Position position_of(const Plan& plan, const Control<SystemPolicy>& control, int stage);

/// Whether a consumer's position says all that it has consumed: not in the middle of an epoch whose
/// samples are numbered anew, nor before it has left out all that it had.
bool position_is_exact(const Plan& plan, const Control<SystemPolicy>& control, int stage);

}  // namespace brigade
