#pragma once

// Converts the positions of consumers to the numbers of a plan. All watermarks of an
// index space begin at one number: the lowest of its consumers' positions, rounded
// down to a multiple of L, so that every task size fits; a consumer that was further
// drops the samples it has already consumed (ResumeQueue::at). Only samples needed
// for that are read again, so the cost does not depend on the position.
//
// Downstream of a flat_map, numbers restart, too, with the lowest epoch of the
// readers; a reader in a later epoch drops the earlier ones (ResumeQueue::epoch).
// The stage that numbers them is itself a reader, which begins with that epoch
// and may have to skip samples that its source outputs for others.
//
//   below `expand`  positions are divided by k
//   below a cache    the cache is filled anew, from the beginning of its source
//   below `repack`   positions are beginnings of epochs (read_position() gives no others)
//   below `merge`, or a stream: rejected, because earlier samples are unknown

#include <string>
#include <vector>

#include <brigade/result.h>
#include "pipeline/plan/resume_point.h"
#include "pipeline/state/position.h"

namespace brigade {

/// Stages that keep state and cannot save it: in a resumed run they begin anew.
std::vector<std::string> stages_that_forget(const Plan& plan);

/// Whether a run of it can be resumed at all; the error says why not.
Result<void> check_resumable(const Plan& plan);

/// `fresh`: of this run, at the beginning. `positions`: a consumer without
/// task queues begins at the beginning, whatever the others have consumed. Errors: a position that
/// does not fit the plan.
Result<ResumePoint> resume_numbers(const Plan& plan, ResumePoint fresh,
                                   const ByStage<Position>& positions);

}  // namespace brigade
