#pragma once

// Stages and operations under their names in other libraries: torchvision's
// RandomResizedCrop, albumentations' HorizontalFlip, a format that has no stage type. For
// messages about unknown names. Case, `_` and text before a dot are ignored. Pure functions.

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
