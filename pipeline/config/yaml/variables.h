#pragma once

// Expands `${name}` in values: a variable of `vars:`, else of the environment; `${NAME:-default}`
// if it is missing (or empty); `$$` is a dollar. Done on the tree, after parsing, so that the value
// of a variable cannot change the structure and marks stay correct. Variables may use variables.
//
// A value that begins with a variable has that variable's origin: a relative path in `vars:` is
// relative to the file that defines it, one from the environment to the working directory.

#include <functional>
#include <optional>
#include <string>

#include "pipeline/config/yaml/diagnostics.h"
#include "pipeline/config/yaml/yaml_tree.h"

namespace brigade {

/// The value of an environment variable, or nothing.
using Environment = std::function<std::optional<std::string>(const std::string& name)>;

/// Expands every value below `root`, except under `x-*`. A mistake leaves that value as it is.
void expand_variables(YamlNode& root, const Environment& environment, const SourceText& source,
                      Diagnostics& diagnostics);

}  // namespace brigade
