#pragma once

// A resumed run begins at a number that suits all stages; what a consumer had before it is left
// out.

#include <cstdint>

#include "pipeline/plan/plan.h"
#include "pipeline/run/record_codec.h"

namespace brigade {

/// Makes holes of the FULL rows of a task from `first` on that lie before the lane's `resume_at`.
/// Returns how many there were.
inline std::uint64_t leave_out_before(const PlanLane& lane, std::uint64_t first,
                                      RowStates& states) {
  if (first >= lane.resume_at) [[likely]]
    return 0;
  std::uint64_t left_out = 0;
  for (std::uint64_t row = 0; row < states.rows() && first + row < lane.resume_at; ++row) {
    if (!states.is_full(row)) continue;
    states.states[row] = RowState::hole;
    ++left_out;
  }
  states.count();
  return left_out;
}

}  // namespace brigade
