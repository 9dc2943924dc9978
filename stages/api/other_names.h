#pragma once

// Stages and operations by the names that other libraries give them: torchvision's
// RandomResizedCrop, albumentations' HorizontalFlip, a format that has no stage type. For messages
// about unknown names. Capitals, `_` and what stands before a dot do not count. Pure functions.

#include <optional>
#include <string>
#include <string_view>

#include <brigade/export.h>

namespace brigade {

/// The operation of `augment`: "random_horizontal_flip".
BRIGADE_API std::optional<std::string_view> operation_elsewhere(std::string_view name);

/// A line of help about what does the same here, or why nothing does.
BRIGADE_API std::optional<std::string> stage_elsewhere(std::string_view name);

}  // namespace brigade
