#pragma once

// The source of a graph that numbers the classes of named labels: one numbering for all sources.

#include <string>

#include "pipeline/config/language/graph_spec.h"

namespace brigade {

/// Whether its labels are names that it numbers itself: `labels: names`, and nothing that says the
/// numbers.
bool names_classes(const StageSpec& stage);

/// The first such source above the port `train` of a classifier; where there is none, the first in
/// the text. Empty: no source names classes.
std::string first_class_source(const GraphSpec& graph);

}  // namespace brigade
