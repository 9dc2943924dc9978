#pragma once

// How many samples sources have whose parameters do not tell: they are opened in this process as a
// replica opens them, asked, and closed. So an index that `index:` names is made and kept. One
// thread; takes as long as a replica takes to open.

#include <brigade/stage_types.h>
#include "pipeline/config/graph/valid_graph.h"
#include "pipeline/plan/plan.h"

namespace brigade {

/// Writes what it finds into the stages of `graph`, whose plan this is, and why it finds nothing.
/// False: all have told. A source that cannot be opened stays unknown; a run says what is wrong.
/// `types`: all that the graph names. Those whose body is in a module are not opened here.
bool count_sources(ValidGraph& graph, const Plan& plan, const StageTypes& types);

}  // namespace brigade
