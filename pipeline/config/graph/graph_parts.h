#pragma once

// Parts of a validated graph: the stages upstream of a
// stage, and the graph without some of its stages. Pure.

#include <string_view>
#include <vector>

#include "pipeline/config/graph/valid_graph.h"

namespace brigade {

/// Index of the stage of that name; -1: there is none.
StageNumber find_stage(const ValidGraph& graph, std::string_view name);

/// By index: whether the stage reads it, directly or through others. Not the stage itself.
ByStage<bool> stages_above(const ValidGraph& graph, StageNumber stage);

/// Takes away all stages but these. None of them may read one that goes.
void keep_stages(ValidGraph& graph, const ByStage<bool>& kept);

}  // namespace brigade
