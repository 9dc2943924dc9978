#pragma once

// A first graph for somebody's data: `brigade init`. Pure data in, YAML with comments out.

#include <string>
#include <string_view>
#include <vector>

#include "stages/image/guess/data_folder.h"

namespace brigade {

/// For a message: "images of 2 classes (cat, dog) in /data/train; to evaluate: val".
std::string found_text(const FoundData& data);

/// The stage types that the graph for such data needs.
std::vector<std::string_view> types_for(FoundData::Kind kind);

/// Whether the graph trains on a part of what was found and evaluates on the rest, as there is
/// nothing else to evaluate on.
bool is_divided(const FoundData& data, bool can_train);

/// Why no YAML can say what was found; empty: one can.
std::string unwritable(const FoundData& data);

/// A commented graph that `brigade check` accepts; of nothing, one that makes samples up. `name`:
/// of the graph. `can_train`: torch_classifier can run here. Names
/// may hold anything: reading the YAML gives them back, and nothing in them is taken for YAML.
std::string graph_template(const std::string& name, const FoundData& data, bool can_train);

}  // namespace brigade
