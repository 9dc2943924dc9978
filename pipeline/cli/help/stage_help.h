#pragma once

// What `brigade stages` says about stage types, made from their contracts. Pure.

#include <string>

#include <brigade/stage_types.h>

namespace brigade {

/// Producers, transforms and consumers, a line each.
std::string stage_list(const StageTypes& types);

/// One stage type: ports, parameters with type, range, default and help, what it reports, and an
/// example to paste.
std::string stage_description(const StageType& type);

}  // namespace brigade
