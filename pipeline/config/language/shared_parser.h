#pragma once

// `shared:`: NAME -> {dtype: D, shape: [SIZES], init: ..., save: FILE, access: ...}. Part of the
// spec parser.

#include <vector>

#include "pipeline/config/language/graph_spec.h"
#include "pipeline/config/language/spec_reader.h"

namespace brigade {

/// Those that could be read; what is wrong with the others has been said.
std::vector<SharedSpec> parse_shared(const YamlEntry& entry, const KeySpec& key, SpecReader& read);

}  // namespace brigade
