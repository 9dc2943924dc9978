#pragma once

// Resizes u8 pixels by the cubic filter (Keys: "Cubic convolution
// interpolation for digital image processing", 1981), as torch's
// interpolate(mode="bicubic") does for float images, rounded at the end:
//
//   antialias   the filter is as wide as the reduction, a = -0.5, and what is missing of it at the
//               edges is left out
//   otherwise   four pixels by four, a = -0.75, pixels at the edges being repeated
//
// Two passes in float: rows first, then the columns
// of each. One thread; memory is kept between images.

#include <cstddef>
#include <cstdint>
#include <vector>

#include <brigade/export.h>

namespace brigade {

/// Pixels without gaps within a row.
struct CubicPixels {
  const std::uint8_t* data = nullptr;
  std::int64_t stride = 0;  ///< bytes from one row to the next
  std::int64_t height = 0;
  std::int64_t width = 0;
  std::int64_t channels = 3;
};

class BRIGADE_API CubicResizer {
 public:
  /// Writes `height` rows of `width` pixels, without gaps.
  void run(const CubicPixels& in, std::int64_t height, std::int64_t width, bool antialias,
           std::uint8_t* out);

 private:
  struct Axis {
    std::int64_t taps = 0;
    std::vector<std::int64_t> firsts;
    std::vector<float> weights;  // [out, taps]

    void prepare(std::int64_t in, std::int64_t out, bool antialias);
  };

  void add_rows(const CubicPixels& in, std::int64_t y);
  void add_columns(std::int64_t channels, std::uint8_t* out) const;

  Axis rows_;
  Axis columns_;
  std::vector<float> row_;
};

}  // namespace brigade
