#pragma once

// Domains whose length nobody knows in advance: those of streams, and those of stages that number
// their outputs freely. What cannot be asked of them is a problem of the graph; and a stream closes
// open batches after a while, which the readers below it say. Pure functions.

#include "pipeline/plan/plan.h"
#include "pipeline/plan/plan_problem.h"

namespace brigade {

/// The source of such a domain records where each epoch ended; 8 bytes each.
inline constexpr std::uint64_t kRecordedEpochsMax = 1 << 16;

/// Whether the samples of `domain` are made of those of `above`, under whatever numbers.
bool comes_from(const Plan& plan, int domain, int above);

/// Problems: a stream that is zipped, or has several replicas and several epochs; a stage of free
/// numbering with several replicas, batches or `rows:`, or zipped with what it does not number; too
/// many epochs; `max_wait` where no stream is above; `drop_last` where one is, or with `assign:
/// fixed` below free numbering. Sets max_wait of streams: the smallest below them. Needs lanes and
/// domains.
void check_unknown_lengths(const ValidGraph& graph, Plan& plan, PlanProblems& problems);

}  // namespace brigade
