#pragma once

// The output of `brigade --version`: this build (base/build_facts.h), and its packages' paths.

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/build_facts.h"

namespace brigade {

/// A line for each, the first of them "brigade 0.1.0". `find_module`: the file of a module, or
/// nothing where there is none.
std::string version_text(
    const BuildFacts& facts,
    const std::function<std::optional<std::string>(const std::string&)>& find_module);

/// What `brigade plan` says of the packages whose modules a graph opens (plan/libraries.h): a
/// heading and a line for each; empty without any.
std::string libraries_text(const std::vector<PackageFacts>& packages);

}  // namespace brigade
