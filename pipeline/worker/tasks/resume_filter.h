#pragma once

// A resumed run begins at a number that fits all stages;
// samples that a consumer has already consumed are dropped.

#include <cstdint>

#include "pipeline/plan/resume_point.h"
#include "pipeline/records/record_codec.h"

namespace brigade {

/// Whether an earlier run has consumed sample `number` of a task queue, whose header this is.
inline bool was_consumed(const ResumeQueue& queue, std::uint64_t number, const SlotHeader& header) {
  return number < queue.at || header.epoch < queue.epoch;
}

/// Makes empty slots of the FULL slots of a task from `first` on that an earlier run has consumed.
/// Returns how many there were.
inline std::uint64_t filter_resumed(const ResumeQueue& queue, std::uint64_t first,
                                    const SlotHeader* headers, SlotStates& states) {
  if (!was_consumed(queue, first, headers[0])) [[likely]]
    return 0;
  std::uint64_t skipped = 0;
  for (std::uint64_t slot = 0; slot < states.slots(); ++slot) {
    if (!states.is_full(slot) || !was_consumed(queue, first + slot, headers[slot])) continue;
    states.states[slot] = SlotState::empty;
    ++skipped;
  }
  states.count();
  return skipped;
}

}  // namespace brigade
