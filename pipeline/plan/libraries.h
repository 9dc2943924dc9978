#pragma once

// The libraries behind a plan's stages: decoded pixels may depend on the version of one. Known
// when Brigade is built (base/build_facts.h), so that no package is opened for it. Pure functions.

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <brigade/stage_types.h>
#include "base/build_facts.h"
#include "pipeline/plan/plan.h"

namespace brigade {

/// Of `packages` those whose modules the plan's stages open. `types`: all that the plan names.
std::vector<PackageFacts> packages_of(const Plan& plan, const StageTypes& types,
                                      std::span<const PackageFacts> packages);

/// "libjpeg-turbo 2.1.5, libpng 1.6.39, libwebp 1.2.4"; empty without any.
std::string libraries_of(const std::vector<PackageFacts>& packages);

/// What differs, as "libjpeg-turbo 2.1.5 before, libjpeg-turbo 3.0.1 now"; empty: nothing, or it is
/// not known what they were.
std::string libraries_difference(std::string_view before, std::string_view now);

}  // namespace brigade
