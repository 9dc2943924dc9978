#pragma once

// The memory of a run, shared by the parts of a program.

#include <memory>
#include <string_view>
#include <vector>

#include "base/forked.h"
#include "pipeline/memory/shared_segments.h"
#include "pipeline/worker/tasks/replica_context.h"

namespace brigade {

/// The program's mappings of the rings that its outputs read. If an output is the only reader of a
/// ring, the program may write to its held batches; if the ring has other readers, it is mapped
/// read-only. A forked child keeps the mappings, read-only, so that it can still read the held
/// batches; it does not have the rest of the run's memory.
class ProgramViews {
 public:
  /// None of what is given is needed any more afterwards.
  static Result<std::unique_ptr<ProgramViews>> create(const Plan& plan,
                                                      const SharedSegments& segments);

  /// By stage; empty for rings that no output reads.
  const ByStage<SlotRing>& rings() const { return rings_; }
  /// Whether the program may write there: also where none of the rings is.
  bool writable(const std::byte* at) const;

 private:
  struct View {
    Mapping memory;
    bool writable = false;
    std::unique_ptr<ReadOnlyInChildren> in_children = {};  // before `memory` goes
  };

  Result<SlotRing> open(const PlanStage& stage, int fd, bool writable);

  std::vector<View> views_;
  ByStage<SlotRing> rings_;
};

/// Whether an output of the program reads the ring of `stage`.
bool is_read_by_program(const Plan& plan, const PlanStage& stage);

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
