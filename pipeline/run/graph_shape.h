#pragma once

// From the plan to the bytes: the shape from which the control segment is laid out, and the places
// of a pool's arrays. Supervisor and workers call these with the same plan, so their offsets agree.
// Pure functions.

#include <vector>

#include "pipeline/plan/plan.h"
#include "transports/layout.h"
#include "transports/row_pool.h"

namespace brigade {

GraphShape graph_shape(const Plan& plan);

/// The arrays of a pool, in the order of pool.tensors.
std::vector<RowArray> row_arrays(const PlanPool& pool);

/// Entries of a stage's quarantine list at least; several tasks of a per-batch stage, which is
/// quarantined by the batch.
inline constexpr std::uint64_t kQuarantineMin = 64;
inline constexpr std::uint64_t kQuarantineTasks = 4;

}  // namespace brigade
