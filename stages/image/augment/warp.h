#pragma once

// Warps of a whole image, which keeps its size. Pure functions except for the canvas.

#include <array>
#include <cstdint>

#include "stages/image/augment/canvas.h"

namespace brigade {

enum class Interpolation : std::uint8_t { nearest, bilinear };

struct Border {
  Interpolation interpolation = Interpolation::nearest;
  std::uint8_t fill = 0;  ///< of all channels, where the result looks outside of the picture
  bool shows = true;      ///< false: torchvision's fill of None, for pixels half outside
};

/// First shear and scale, then turn, then shift.
struct AffineParts {
  double degrees = 0;  ///< clockwise
  double translate_x = 0;
  double translate_y = 0;
  double scale = 1;
  double shear_x = 0;  ///< degrees
  double shear_y = 0;
  double center_x = 0;  ///< of shear, scale and turn, from the middle of the picture
  double center_y = 0;
};

AffineMatrix inverse_affine(const AffineParts& parts);
void warp_affine(Canvas& canvas, const AffineMatrix& matrix, const Border& border);

/// Top left, top right, bottom right, bottom left.
using Corners = std::array<PicturePoint, 4>;
/// That moves the corners `from` to `to`; the result's places to the picture's.
Perspective perspective_between(const Corners& from, const Corners& to);
void warp_perspective(Canvas& canvas, const Perspective& coefficients, const Border& border);

}  // namespace brigade
