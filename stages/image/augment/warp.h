#pragma once

// Warps of a whole image, which keeps its size. Pure functions except for the canvas.

#include <array>
#include <cstdint>

#include "stages/image/augment/canvas.h"
#include "stages/image/augment/operation.h"

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

/// The two parameters of every operation that reads outside the image.
struct BorderParams {
  Interpolation interpolation = Interpolation::nearest;
  std::int64_t fill = 0;
  Border border() const { return {interpolation, static_cast<std::uint8_t>(fill)}; }
};

/// `P` is a BorderParams.
template <class P>
Contract<P> with_border(Contract<P> table) {
  return table
      .choice("interpolation", static_cast<Interpolation P::*>(&P::interpolation),
              {{"nearest", Interpolation::nearest}, {"bilinear", Interpolation::bilinear}},
              "how values between pixels are computed")
      .param("fill", static_cast<std::int64_t P::*>(&P::fill), 0, 255,
             "level of the pixels outside the image");
}

}  // namespace brigade
