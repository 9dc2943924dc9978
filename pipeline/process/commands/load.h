#pragma once

// What most commands begin with: the user's files become a proved graph and a plan for this
// machine; every mistake on the way is shown on standard error.

#include <optional>

#include "pipeline/config/load_graph.h"
#include "pipeline/plan/machine_limits.h"
#include "pipeline/plan/plan.h"
#include "pipeline/process/commands/command_line.h"

namespace brigade {

/// The files, read and proved; `graph` is empty after mistakes, which have been shown.
LoadedGraph load_arguments(const GraphArguments& arguments, const StageTypes& types);

/// Graph and plan; nothing after mistakes, which have been shown.
struct LoadedPlan {
  LoadedGraph loaded;
  MachineLimits limits;
  Plan plan;
};
std::optional<LoadedPlan> plan_arguments(const GraphArguments& arguments, const StageTypes& types);

}  // namespace brigade
