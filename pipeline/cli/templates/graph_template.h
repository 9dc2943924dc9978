#pragma once

// A first graph for the user's data: `brigade init`. Pure data in, YAML with comments out.

#include <string>

#include "stages/image/guess/data_folder.h"

namespace brigade {

/// What trains on a graph.
enum class Trainer {
  none,        ///< nothing: it counts
  classifier,  ///< its stage torch_classifier
  script       ///< a program in Python, as train_script() writes it
};

/// Whether the graph trains on a part of what was found and evaluates on the rest, as there is
/// nothing else to evaluate on.
bool is_divided(const FoundData& data, Trainer trainer);

/// A commented graph that `brigade check` accepts; of nothing, one that makes samples up. `name`:
/// of the graph. Names may hold anything: reading the YAML gives them back, and nothing in them is
/// taken for YAML.
std::string graph_template(const std::string& name, const FoundData& data, Trainer trainer);

}  // namespace brigade
