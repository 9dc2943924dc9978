#pragma once

// The planning of caches. A cache is a stage with two task queues: one reads
// its source for one epoch and keeps each sample, the other is the source of
// a separate index space, for all epochs. The number of samples must be known
// before the run, because their memory is part of the plan. Pure functions.

#include <string>
#include <vector>

#include "pipeline/plan/plan.h"
#include "pipeline/plan/plan_problem.h"

namespace brigade {

/// Samples that are read of a source, of a mixture's of all its parts; 0: not known in advance.
/// `seed`: of the stage.
std::uint64_t read_of(const ValidStage& source, std::uint64_t seed);

/// Samples per epoch of what a stage gives this process; 0: not known in advance.
std::uint64_t samples_of(const ValidGraph& graph, const Plan& plan, StageNumber stage);

/// Lays out what each cache keeps. Problems: a source without an order, or of unknown size where
/// `samples:` makes no room either, or makes too little. Needs task queues and index spaces.
void make_caches(const ValidGraph& graph, Plan& plan, PlanProblems& problems);

/// The file in which this stage keeps its samples, instead of in memory; empty: none.
std::string cache_file(const PlanStage& stage);

/// Bytes of the stage's memory segment: its ring, and what it keeps unless that is in a file.
std::uint64_t memory_segment_bytes(const PlanStage& stage);

/// The stages that make what this one reads, itself not among them.
ByStage<bool> stages_above(const Plan& plan, StageNumber stage);

}  // namespace brigade
