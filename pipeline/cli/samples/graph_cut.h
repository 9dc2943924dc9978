#pragma once

// A graph that ends at one stage, which `brigade sample` runs. Pure.

#include <string>

#include <brigade/result.h>
#include "pipeline/config/graph/valid_graph.h"

namespace brigade {

/// The stage, everything above it, and one consumer of type `reader` below it, called
/// `reader_name`, which takes samples. An error for a stage that is not there (with a guess) or
/// emits nothing.
Result<ValidGraph> cut_below(const ValidGraph& graph, const std::string& stage,
                             const StageType& reader, const std::string& reader_name);

}  // namespace brigade
