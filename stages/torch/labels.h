#pragma once

// Checks the labels of a batch before LibTorch uses them: class numbers, i64 [B],
// or the shares of all classes in each image, f32 [B, classes], as from mix_batch.

#include <cstdint>

#include <brigade/record.h>
#include <brigade/result.h>

namespace brigade {

/// How far from 1 the shares of a label may add up.
inline constexpr double kShareErrorMax = 0.01;

/// Errors name the first sample whose label is no class below `classes`, or whose shares are
/// negative, not finite or something else than 1 together.
Result<void> check_labels(const Inputs& in, std::int64_t classes);

}  // namespace brigade
