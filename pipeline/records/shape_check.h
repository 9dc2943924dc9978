#pragma once

// Whether the sizes that a stage has given a ragged tensor are those of its contract: at most the
// bound where there is one, equal where there is a size. Readers rely on both. Pure.

#include <cstdint>

#include <brigade/record.h>
#include <brigade/result.h>
#include <brigade/types.h>

namespace brigade {

/// A bit for each dimension of a sample that has an upper bound; 0: all sizes are given.
using VaryingSizes = std::uint32_t;
VaryingSizes varying_sizes(const TensorType& type);

/// `sizes`: one for each dimension of a sample of `field`. The error names the tensor, what its
/// contract says and what was found.
Result<void> check_shape(const Field& field, const std::int64_t* sizes, VaryingSizes varying);

}  // namespace brigade
