#pragma once

// From the plan to the bytes: the shape from which the control segment is laid
// out, and the places of a ring's arrays. Supervisor and workers call these with
// the same plan and the same resume point, so their offsets agree. Pure functions.

#include <vector>

#include "pipeline/plan/resume_point.h"
#include "transports/layout.h"
#include "transports/slot_ring.h"

namespace brigade {

SharedShape shared_shape(const Plan& plan, const ResumePoint& resume);

/// The arrays of a ring, in the order of ring.tensors.
std::vector<SlotArray> slot_arrays(const PlanRing& ring);

/// Entries of a stage's quarantine list at least; several tasks of a per-batch stage, which is
/// quarantined by the batch.
inline constexpr std::uint64_t kQuarantineMin = 64;
inline constexpr std::uint64_t kQuarantineTasks = 4;

}  // namespace brigade
