#pragma once

// A plan that goes on from where consumers stood. All marks of a domain begin at one number: the
// lowest of its consumers' positions, rounded down to a multiple of L, so that every task size
// fits; a consumer that stood further on leaves out what it had (PlanLane::resume_at). Nothing is
// read again that is not needed for that, so the cost does not depend on the position.
//
// Where samples are numbered anew, numbers begin anew, too, with the lowest epoch of the readers;
// who stood in a later one leaves out those before it (PlanLane::resume_epoch). The stage that
// numbers them is a reader itself, which begins with that epoch and may have to leave out what its
// source gives for others.
//
//   below `fixed k`  positions are divided by k
//   below a cache    the cache is filled anew, from the beginning of its source
//   below `repack`   positions are beginnings of epochs (position_of() gives no others)
//   below `merge`, or a stream: refused, since nobody can say what came before

#include <string>
#include <vector>

#include "base/result.h"
#include "pipeline/plan/plan.h"
#include "pipeline/plan/position.h"

namespace brigade {

/// Stages that keep state and cannot save it: in a resumed run they begin anew.
std::vector<std::string> stages_that_forget(const Plan& plan);

/// Whether the run can be resumed at all; the error says why not, and what to do.
Result<void> check_resumable(const Plan& plan);

/// The plan as it was before resume_plan().
void forget_past(Plan& plan);

/// `positions`: by stage of the plan; a consumer without lanes begins at the beginning, whatever
/// the others have had. Sets what the plan's types have of a resumed run. Errors: a position that
/// does not fit the plan.
Result<void> resume_plan(Plan& plan, const std::vector<Position>& positions);

}  // namespace brigade
