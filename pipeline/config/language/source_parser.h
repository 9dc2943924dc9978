#pragma once

// `from:` in its three forms: a source, a list of sources, a mapping port -> source. A source is
// `stage`, `stage.tensor` or a mapping with the key `stage`. Part of the spec parser.

#include <vector>

#include "pipeline/config/language/spec_reader.h"

namespace brigade {

/// Nothing where a source could not be read (said already).
std::optional<std::vector<SourceSpec>> parse_sources(const YamlEntry& from, SpecReader& read);

}  // namespace brigade
