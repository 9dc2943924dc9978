#pragma once

// The two inner loops of a blur, once as plain C++ and once more for each
// instruction set that makes them faster. They are one computation, in the
// same order on floats, so that an image does not depend on the machine that
// made it; the variant is chosen at run time. Pure functions, any thread.
//
// Weights are those of the middle, of its two neighbors, of theirs, and so on: a
// blur is symmetric, so that two samples are added before they are multiplied.

#include <cstdint>
#include <span>

namespace brigade {

struct BlurKernels {
  const char* name;
  /// sums[i] = weights[0] * rows[0][i] + weights[1] * (rows[-1][i] + rows[1][i]) + ...
  void (*add_rows)(const std::uint8_t* const* rows, std::span<const float> weights,
                   std::int64_t count, float* sums);
  /// to[i] = the level, from 0 to 255, that is nearest to
  /// weights[0] * row[i] + weights[1] * (row[i - step] + row[i + step]) + ...
  void (*add_columns)(const float* row, std::int64_t step, std::span<const float> weights,
                      std::int64_t count, std::uint8_t* to);
};

/// Those that this processor has, the slowest ("plain") first, the fastest last.
std::span<const BlurKernels> blur_kernels();

}  // namespace brigade
