#pragma once

// Merges several texts into one tree: in `brigade run base.yaml machine.yaml` later files
// override earlier ones key by key, and `--set a.b.c=value` writes one value. Pure.

#include "pipeline/config/yaml/diagnostics.h"
#include "pipeline/config/yaml/yaml_tree.h"

namespace brigade {

/// Mappings merge by key; anything else is replaced by the later one; a key without a value
/// (`batch:`) in the later one takes the key away.
void merge_tree(YamlNode& base, YamlNode over);

/// Text number `file` is what followed `--set`: "stages.augment.replicas=4". The path names keys,
/// or a number in a list; mappings that are not there are made. The value is text, or YAML where it
/// begins with a quote, `{` or `[`; no value takes the key away.
void apply_setting(const SourceText& source, int file, YamlNode& root, Diagnostics& diagnostics);

}  // namespace brigade
