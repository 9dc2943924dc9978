#pragma once

// YAML text -> YamlNode. The only file that knows yaml-cpp; none of its exceptions leaves it.
//
// The language is YAML 1.2 with less: one document, keys are text, no tags, no merge keys (`<<`).
// Anchors and aliases are allowed, their expansion is capped. Duplicate keys are errors.

#include <optional>

#include "pipeline/config/yaml/diagnostics.h"
#include "pipeline/config/yaml/yaml_tree.h"

namespace brigade {

/// Reads text number `file`, or the part of it from `column` (from 1) on: what a `--set` has after
/// its `=`. Nothing when the text is no YAML at all; other mistakes are reported and stepped over.
std::optional<YamlNode> read_yaml(const SourceText& source, int file, Diagnostics& diagnostics,
                                  int column = 1);

}  // namespace brigade
