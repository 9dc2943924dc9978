#pragma once

// The two inner loops of a Resampler, once as plain C++ and once more for each instruction
// set that makes them faster. All compute the same integers, so that an image does not depend
// on the machine that made it; the variant is chosen at run time. Pure functions, any thread.

#include <cstdint>
#include <span>
#include <vector>

#include <brigade/export.h>

namespace brigade {

class AxisWeights;

/// The weights of all columns as the inner loop reads them: pixels in groups of four, taps in
/// pairs, what is missing of both filled up with zeros.
struct BRIGADE_API ColumnWeights {
  static constexpr std::int64_t kGroup = 4;

  std::int64_t count = 0;            ///< output pixels
  std::int64_t pairs = 0;            ///< of taps
  std::vector<std::int32_t> firsts;  ///< [groups * 4]: index in the row of a pixel's first sample
  /// [groups, pairs, 4, 8]: the pixels of a group in the order 0, 2, 1, 3; a pair of weights four
  /// times, for red, green, blue and nothing.
  std::vector<std::int16_t> weights;

  void prepare(const AxisWeights& columns);
};

struct ResampleKernels {
  /// The widest sum of rows whose products are cut to the bits of the result one by one: their
  /// errors add up to less than 1 / 16 of a level.
  static constexpr std::int64_t kNarrowTaps = 16;
  /// Samples behind a row that add_columns may read; they do not matter.
  static constexpr std::int64_t kRowSlack = 16;
  static constexpr int kRowBits = 7;  ///< of a row, below the point

  const char* name;
  /// out[i] = sum of weights[tap] * rows[tap][i], with kRowBits below the point, for i < bytes.
  void (*add_rows)(const std::uint8_t* const* rows, const std::int16_t* weights, std::int64_t taps,
                   std::int64_t bytes, std::int16_t* out);
  /// One row of columns.count RGB pixels, rounded to 8 bits.
  void (*add_columns)(const std::int16_t* row, const ColumnWeights& columns, std::uint8_t* out);
};

/// Those that this processor has, the slowest ("plain") first, the fastest last.
BRIGADE_API std::span<const ResampleKernels> resample_kernels();

}  // namespace brigade
