#pragma once

// A resumed run begins at a number that suits all stages; what a consumer had before it is left
// out.

#include <cstdint>

#include "pipeline/plan/plan.h"
#include "pipeline/run/record_codec.h"

namespace brigade {

/// Whether an earlier run has consumed sample `number` of a lane, whose header this is.
inline bool was_before(const PlanLane& lane, std::uint64_t number, const RowHeader& header) {
  return number < lane.resume_at || header.epoch < lane.resume_epoch;
}

/// Makes holes of the FULL rows of a task from `first` on that lie before the lane's `resume_at`,
/// or in an epoch before its `resume_epoch`. Returns how many there were.
inline std::uint64_t leave_out_before(const PlanLane& lane, std::uint64_t first,
                                      const RowHeader* headers, RowStates& states) {
  if (!was_before(lane, first, headers[0])) [[likely]]
    return 0;
  std::uint64_t left_out = 0;
  for (std::uint64_t row = 0; row < states.rows(); ++row) {
    if (!states.is_full(row) || !was_before(lane, first + row, headers[row])) continue;
    states.states[row] = RowState::hole;
    ++left_out;
  }
  states.count();
  return left_out;
}

}  // namespace brigade
