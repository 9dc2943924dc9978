#pragma once

// What most commands begin with: files become a proved graph or a plan for this machine, and every
// mistake and warning on the way is shown on standard error.

#include <optional>

#include "pipeline/api/load_and_plan.h"

namespace brigade {

/// `graph` is empty after mistakes, which have been shown.
LoadedGraph load_and_show(const GraphFiles& files, const StageTypes& types);

/// Without a plan after mistakes, which have been shown.
PlannedGraph plan_and_show(const GraphFiles& files, const StageTypes& types);

}  // namespace brigade
