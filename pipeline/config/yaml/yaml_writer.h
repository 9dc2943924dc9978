#pragma once

// YamlNode -> YAML text, in the one form that this program writes: mappings in blocks of two
// spaces, lists in [ ], quotes only where they are needed. read_yaml() gives the same tree back.

#include <string>

#include "pipeline/config/yaml/yaml_tree.h"

namespace brigade {

/// `root` is a mapping; ends with a newline. A `$` in a text stays as it is: callers that write a
/// graph double it first (quote_dollars).
std::string write_yaml(const YamlNode& root);

/// With `$$` for `$`, so that expand_variables() gives the text back.
std::string quote_dollars(std::string_view text);

}  // namespace brigade
