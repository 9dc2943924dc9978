#pragma once

// Tree -> GraphSpec: every key by the key table. Each mistake becomes a diagnostic
// and is skipped, so that one run finds all of them. Knows the language, but no
// stage type: validate_graph() checks whether names exist and match. Pure.

#include "pipeline/config/language/graph_spec.h"
#include "pipeline/config/yaml/diagnostics.h"

namespace brigade {

/// `root` is the merged tree with variables expanded. Broken parts are left out.
GraphSpec parse_graph(const YamlNode& root, Diagnostics& diagnostics);

/// One entry of `stages:`.
StageSpec parse_stage(const YamlEntry& entry, Diagnostics& diagnostics,
                      const std::vector<std::string>& others = {});

}  // namespace brigade
