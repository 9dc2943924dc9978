#pragma once

// The program's mappings of the rings that its outputs read. If an output is the only
// reader of a ring, the program may write to its held batches; if the ring has other
// readers, it is mapped read-only. A forked child keeps the mappings, read-only, so that
// it can still read the held batches; it does not have the rest of the run's memory.

#include <memory>
#include <optional>
#include <vector>

#include "base/forked.h"
#include "pipeline/memory/shared_segments.h"

namespace brigade {

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

}  // namespace brigade
