#pragma once

// The position of a program's run, as bytes that the program keeps with
// its model (Run::state()). They have the position (position.h) of all
// consumers; an application's position is after the last batch that it
// received, whatever it still holds. resume_from_state() (begin_run.h)
// makes the resume point from them, as from the files of a checkpoint.
//
// A line with the length and the digest of what follows,
// and a line of JSON: a changed byte is detected.

#include <cstdint>
#include <string>
#include <string_view>

#include <brigade/result.h>
#include "pipeline/plan/resume_point.h"
#include "pipeline/state/position.h"
#include "transports/layout.h"

namespace brigade {

/// The lists of what was skipped and quarantined come on top. What defines the order is told in as
/// much detail as fits.
inline constexpr std::size_t kStateBytesMax = 4096;

/// `levels`: by application, where its task queues stand; those that have not come to `first_epoch`
/// are put at its beginning. While the run goes on: any thread. Errors: the graph has no
/// application, or cannot be resumed; an epoch's beginning where its length is not known yet.
Result<std::string> state_of_run(const Plan& plan, const ResumePoint& resume,
                                 const Control<SystemPolicy>& control,
                                 const ByStage<ByQueue<std::uint64_t>>& levels,
                                 std::uint64_t first_epoch = 0);

std::string state_to_bytes(const RunState& state);
/// Error: what is wrong with the bytes, in one line.
Result<RunState> state_from_bytes(std::string_view bytes);

/// order_fingerprint() as a state tells it: values that are long as their digests, or a line for
/// each stage, or one for the graph.
std::string order_in_detail(const std::string& order, OrderDetail detail);

}  // namespace brigade
