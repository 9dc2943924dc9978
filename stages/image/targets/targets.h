#pragma once

// The kinds of targets, and how those of a list (stages/image/targets_param.h) are made.

#include <memory>
#include <vector>

#include "stages/image/targets/target.h"
#include "stages/image/targets_param.h"

namespace brigade {

/// All kinds that there are, in the order of docs/AUGMENTATION.md.
const std::vector<TargetType>& target_types();

/// Of a list that was checked, in the order in which they have to be written.
BRIGADE_API std::vector<std::unique_ptr<Target>> make_targets(const Targets& targets);

}  // namespace brigade
