#pragma once

// Zipped sources pair their samples by position. `split:`,
// `part:` and limits that select samples from the whole source
// determine the sample at a position: zipped sources must be read
// alike, or unrelated samples would be paired. Pure functions.

#include <cstdint>
#include <optional>
#include <string>

#include "pipeline/plan/plan.h"
#include "pipeline/plan/plan_problem.h"

namespace brigade {

/// Samples that each stage has found in its source; 0: not known.
using FoundSamples = ByStage<std::uint64_t>;

/// What is wrong with the sources of one index space, and what to do; nothing where they are read
/// alike.
struct ZippedMismatch {
  StageNumber stage = -1;  ///< the source that differs from the first
  std::string message;
  std::string help;
};
std::optional<ZippedMismatch> mismatch_of_zipped(const Plan& plan, IndexSpaceNumber index_space,
                                                 const FoundSamples& found);

/// A problem per index space. Of what is found only once the run has begun, StartBarrier tells.
void check_zipped_sources(const ValidGraph& graph, const Plan& plan, PlanProblems& problems);

/// A warning per index space whose sources are shuffled apart. Pairs that are drawn at random are a
/// use of their own, so nothing is refused.
void warn_of_zipped_orders(Plan& plan);

}  // namespace brigade
