#pragma once

// The memory of a run, shared by the parts of a program.

#include <memory>
#include <string_view>

#include "pipeline/application/program_views.h"
#include "pipeline/memory/shared_segments.h"
#include "pipeline/worker/tasks/replica_context.h"

namespace brigade {

/// What calls say in a child that the program has forked.
inline constexpr std::string_view kForkedText =
    "this process was forked from the program that started the run: it may only read batches that "
    "were held before the fork; start a separate run here";

/// The plan says what the memory means. Outlives the run where a program still holds batches or
/// slots.
struct RunMemory {
  PlannedRun run;
  std::unique_ptr<SharedSegments> segments = {};  ///< after `run`, which it goes by
  std::unique_ptr<ProgramViews> views = {};       ///< of a program with outputs
};

/// Of the one replica of a stage that is the program's. `rings` outlive it.
inline ReplicaContext program_context(RunMemory& memory, StageNumber stage,
                                      const ByStage<SlotRing>& rings) {
  ReplicaContext context;
  context.plan = &memory.run.plan;
  context.resume = &memory.run.resume;
  context.stage_index = stage;
  context.stage = &context.plan->stages[stage];
  context.control = &memory.segments->control();
  context.rings = &rings;
  return context;
}

}  // namespace brigade
