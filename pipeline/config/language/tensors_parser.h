#pragma once

// `tensors:` of a stage whose samples a program writes: NAME -> {dtype: D, shape: [SIZES]}, per
// sample. A size `<=N` differs from sample to sample. Part of the spec parser.

#include <optional>
#include <string_view>

#include <brigade/types.h>
#include "pipeline/config/language/spec_reader.h"

namespace brigade {

/// {dtype: D, shape: [SIZES]} under a name. Messages begin with `what`. Nothing where it could not
/// be read (said already).
std::optional<TensorType> parse_tensor(const YamlEntry& entry, std::string_view what,
                                       SpecReader& read);

/// Nothing where one could not be read (said already).
std::optional<Ports> parse_tensors(const YamlEntry& entry, const KeySpec& key, SpecReader& read);

}  // namespace brigade
