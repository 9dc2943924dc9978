#pragma once

// Counts the samples of sources whose parameters do not determine the number: opens them
// in this process like a replica, asks them, and closes them. An index that `index:`
// names is therefore made and kept. One thread; takes as long as opening a replica.

#include <brigade/stage_types.h>
#include "pipeline/config/graph/valid_graph.h"
#include "pipeline/plan/plan.h"

namespace brigade {

/// Writes what it finds into the stages of `graph`, whose plan this is, and why it finds nothing.
/// False: all have told. A source that cannot be opened stays unknown; a run says what is wrong.
/// `types`: all that the graph names. Those whose body is in a module are not opened here.
bool count_sources(ValidGraph& graph, const Plan& plan, const StageTypes& types);

}  // namespace brigade
