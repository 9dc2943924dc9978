#pragma once

// Tensors that a graph declares, as part of the spec parser:
//
//   tensors: of a stage whose samples a program writes, per sample
//            NAME -> {dtype: D, shape: [SIZES]}; a size `<=N` differs from sample to sample
//   shared:  of the graph
//            NAME -> {dtype: D, shape: [SIZES], init: ..., save: FILE, access: ...}

#include <optional>
#include <string_view>
#include <vector>

#include <brigade/types.h>
#include "pipeline/config/language/graph_spec.h"
#include "pipeline/config/language/spec_reader.h"

namespace brigade {

/// {dtype: D, shape: [SIZES]} under a name. Messages begin with `what`. Nothing where it could not
/// be read (said already).
std::optional<TensorType> parse_tensor(const YamlEntry& entry, std::string_view what,
                                       SpecReader& read);

/// Nothing where one could not be read (said already).
std::optional<Ports> parse_tensors(const YamlEntry& entry, const KeySpec& key, SpecReader& read);

/// Those that could be read; what is wrong with the others has been said.
std::vector<SharedSpec> parse_shared(const YamlEntry& entry, const KeySpec& key, SpecReader& read);

}  // namespace brigade
