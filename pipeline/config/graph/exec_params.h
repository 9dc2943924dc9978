#pragma once

// Parameters of a program (`exec:`): from the YAML to JSON and back. Pure functions.

#include <string>
#include <string_view>

#include "pipeline/config/yaml/yaml_tree.h"

namespace brigade {

/// A number, true, false and null are what JSON takes them for; all else, and what stands in
/// quotes, is text.
std::string exec_param_text(const YamlNode& node);
/// YAML that means that JSON.
YamlNode exec_param_node(std::string_view json);

}  // namespace brigade
