#pragma once

// Index spaces whose length is not known in advance: those of streams and flat_map
// stages. Keys that they cannot support are problems of the graph; and a stream
// closes open batches after the `max_wait:` of its readers. Pure functions.

#include "pipeline/plan/plan.h"
#include "pipeline/plan/plan_problem.h"

namespace brigade {

/// The source of such an index space records where each epoch ended; 8 bytes each.
inline constexpr std::uint64_t kRecordedEpochsMax = 1 << 16;

/// Whether the samples of `index_space` are made of those of `above`, under whatever numbers.
bool comes_from(const Plan& plan, IndexSpaceNumber index_space, IndexSpaceNumber above);

/// Problems: a stream that is zipped, or has several replicas and several epochs; a flat_map stage
/// with several replicas, batches or `chunk:`, or zipped with what it does not number; too many
/// epochs; `max_wait` where no stream is above; `drop_last` where one is, or with `assign: fixed`
/// below a flat_map. Sets max_wait of streams: the smallest below them. Needs task queues and index
/// spaces.
void check_unknown_lengths(const ValidGraph& graph, Plan& plan, PlanProblems& problems);

}  // namespace brigade
