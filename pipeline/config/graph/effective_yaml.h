#pragma once

// Writes a validated graph as YAML, with all defaults filled in:
// `brigade plan --yaml`. Loading the text gives the same graph. Pure.

#include <string>

#include <brigade/export.h>
#include "pipeline/config/graph/valid_graph.h"

namespace brigade {

/// Variables are expanded and paths absolute; what this version has not built is left out.
BRIGADE_API std::string effective_yaml(const ValidGraph& graph);

}  // namespace brigade
