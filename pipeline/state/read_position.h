#pragma once

// The position of a consumer, from the words in shared memory. Exact while the consumer is idle:
// called by its only replica between two tasks, or by the supervisor once its replicas have ended.
// For an application it is exact at any time, by the batches that it has passed to the program.

#include "pipeline/plan/resume_point.h"
#include "pipeline/state/position.h"
#include "transports/layout.h"

namespace brigade {

/// `stage`: a consumer. Below a flat_map, it stands at the beginning of its epoch. Without digest.
/// `levels`: where its task queues stand; empty: at their watermarks.
Position read_position(const Plan& plan, const ResumePoint& resume,
                       const Control<SystemPolicy>& control, StageNumber stage,
                       const ByQueue<std::uint64_t>& levels = {});

/// Whether a consumer's position says all that it has consumed: not in the middle of an epoch whose
/// a flat_map renumbers samples, nor before it has dropped all that it has already consumed.
bool position_is_exact(const Plan& plan, const ResumePoint& resume,
                       const Control<SystemPolicy>& control, StageNumber stage);

}  // namespace brigade
