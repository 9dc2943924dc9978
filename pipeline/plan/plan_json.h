#pragma once

// The plan as JSON text: most of the output of `brigade plan --json`,
// and the input of every worker, with its resume point. Reading the text
// gives an equal plan, even if a path is not UTF-8. Pure functions.

#include <string>
#include <string_view>

#include <brigade/result.h>
#include "pipeline/plan/resume_point.h"

namespace brigade {

/// indent: spaces per level; -1: all on one line.
std::string plan_to_json(const Plan& plan, int indent = 2);

/// An error for text that is no JSON, lacks a field, has a value of the wrong type, or describes
/// something that check_plan() refuses: "stages[1].queues[0].task: expected a whole number".
Result<Plan> plan_from_json(std::string_view text);

/// Both on one line.
std::string run_to_json(const Plan& plan, const ResumePoint& resume);
/// An error also where the two do not fit each other.
Result<PlannedRun> run_from_json(std::string_view text);

}  // namespace brigade
