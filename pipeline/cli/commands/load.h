#pragma once

// The first step of most commands: turns files into a validated graph or a plan
// for this machine, and prints all mistakes and warnings on standard error.

#include <optional>

#include "pipeline/api/load_and_plan.h"

namespace brigade {

/// `graph` is empty after mistakes, which have been shown.
LoadedGraph load_and_show(const GraphFiles& files, const StageTypes& types);

/// Without a plan after mistakes, which have been shown.
PlannedGraph plan_and_show(const GraphFiles& files, const StageTypes& types);

}  // namespace brigade
