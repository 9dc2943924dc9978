#pragma once

// Whether a tensor `geometry` says where the pixels of a picture came from: the picture is a slope
// in x (channel 0) and one in y (channel 1), whose levels say where a pixel was.

#include <array>
#include <cmath>
#include <cstdint>
#include <vector>

namespace brigade::testing_support {

inline constexpr int kLevelsPerPixel = 4;

/// u8 [height, width, 3]; sides below 64.
inline std::vector<std::uint8_t> slopes(std::int64_t height, std::int64_t width) {
  std::vector<std::uint8_t> levels;
  for (std::int64_t y = 0; y < height; ++y)
    for (std::int64_t x = 0; x < width; ++x)
      for (const std::int64_t place : {x, y, std::int64_t{0}})
        levels.push_back(static_cast<std::uint8_t>(kLevelsPerPixel * place));
  return levels;
}

/// Where the place (x, y) of the result was: the solution of matrix [u, v, 1] ~ [x, y, 1].
inline std::array<double, 2> place_before(const std::vector<float>& m, double x, double y) {
  const double a = m[0] - x * m[6], b = m[1] - x * m[7], c = x * m[8] - m[2];
  const double d = m[3] - y * m[6], e = m[4] - y * m[7], f = y * m[8] - m[5];
  const double determinant = a * e - b * d;
  return {(c * e - b * f) / determinant, (a * f - c * d) / determinant};
}

/// Pixels that came from `margin` pixels inside of slopes(height, width).
struct SlopesFound {
  int pixels = 0;
  double farthest = 0;  ///< pixels between where they came from and where the matrix says
};
inline SlopesFound compare_slopes(const std::vector<std::uint8_t>& image, std::int64_t rows,
                                  std::int64_t columns, const std::vector<float>& matrix,
                                  std::int64_t height, std::int64_t width, double margin) {
  SlopesFound found;
  for (std::int64_t y = 0; y < rows; ++y)
    for (std::int64_t x = 0; x < columns; ++x) {
      const auto [u, v] =
          place_before(matrix, static_cast<double>(x) + 0.5, static_cast<double>(y) + 0.5);
      if (u < margin || v < margin || u > static_cast<double>(width) - margin ||
          v > static_cast<double>(height) - margin)
        continue;
      const std::uint8_t* const level = &image[static_cast<std::size_t>((y * columns + x) * 3)];
      ++found.pixels;
      found.farthest = std::fmax(found.farthest, std::abs(level[0] / 4.0 - (u - 0.5)));
      found.farthest = std::fmax(found.farthest, std::abs(level[1] / 4.0 - (v - 0.5)));
    }
  return found;
}

}  // namespace brigade::testing_support
