#pragma once

// Slots that a stage writes before their place in the ring is known: in private memory,
// with the layout of its ring. A stream with several replicas has its next sample there
// before it claims a task; a flat_map stage writes its outputs there, and each is copied
// to the ring when a slot is free. No replica therefore holds shared memory while waiting.
//
// One replica's; one thread. Reserves everything when it is made.

#include <cstdint>
#include <vector>

#include "pipeline/records/record_codec.h"

namespace brigade {

class StagingSlots {
 public:
  /// The slots of one call: `stage.fan_out` of them, of which task queue 0 is the input (if there
  /// is one). `rings`: by stage.
  StagingSlots(const Plan& plan, const PlanStage& stage, const ByStage<SlotRing>& rings,
               StageNumber stage_index);
  StagingSlots(const StagingSlots&) = delete;
  StagingSlots& operator=(const StagingSlots&) = delete;

  /// Writes to them; slot 0 is the call's.
  RecordWriter& writer() { return writer_; }

  /// Slot `slot`, as it was written, becomes slot `number` of the stage's ring. The header is the
  /// caller's.
  void copy_to_ring(std::uint64_t slot, std::uint64_t number) const;

 private:
  ByStage<SlotRing> with_own_ring(const PlanStage& stage, const ByStage<SlotRing>& rings,
                                  StageNumber stage_index);

  const PlanRing* planned_;
  SlotRing ring_;  // the stage's
  std::uint64_t slots_;
  std::vector<std::byte> memory_;
  ByStage<SlotRing> rings_;  // the others', and the private one in the stage's place
  const SlotRing* own_;
  RecordWriter writer_;
};

}  // namespace brigade
