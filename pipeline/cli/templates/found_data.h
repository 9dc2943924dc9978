#pragma once

// The report of `brigade init` on the data that it found,
// and whether it can write a graph for them. Pure.

#include <string>
#include <string_view>
#include <vector>

#include "stages/image/guess/data_folder.h"

namespace brigade {

/// For a message: "images of 2 classes (cat, dog) in /data/train; to evaluate: val".
std::string found_text(const FoundData& data);

/// The stage types that the graph for such data needs.
std::vector<std::string_view> types_for(FoundData::Kind kind);

/// Why no YAML can say what was found; empty: one can.
std::string unwritable(const FoundData& data);

}  // namespace brigade
