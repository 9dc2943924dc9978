#pragma once

// The errors and warnings of a graph, as a program gets them. Pure functions.

#include <vector>

#include <brigade/pipeline.h>
#include "pipeline/api/load_and_plan.h"

namespace brigade {

/// Mistakes and warnings of the text and of the plan, each in the order of their places.
std::vector<GraphDiagnostic> diagnostics_of(const PlannedGraph& planned);

/// Of one that could not be planned: every mistake, a few lines each; `found` gets the list.
Error mistakes_of(const PlannedGraph& planned, std::vector<GraphDiagnostic>* found);

}  // namespace brigade
