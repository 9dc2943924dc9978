#pragma once

// Changes an image's colors by a factor, like the functions of the same names for torchvision's
// tensors (torchvision/transforms/functional_tensor.py): in float, clipped to a level. An image
// of one channel is gray: its saturation and hue do not change. Pure except for the canvas.

#include <array>
#include <cstdint>

#include "stages/image/augment/canvas.h"

namespace brigade {

/// What each level becomes.
using Levels = std::array<std::uint8_t, 256>;
void map_levels(Canvas& canvas, const Levels& levels);

void adjust_brightness(Canvas& canvas, double factor);  ///< 0: black, 1: as it is
void adjust_contrast(Canvas& canvas, double factor);    ///< 0: its mean grey
void adjust_saturation(Canvas& canvas, double factor);  ///< 0: grey
void adjust_hue(Canvas& canvas, double turn);           ///< -0.5 to 0.5 of the circle
void adjust_sharpness(Canvas& canvas, double factor);   ///< 0: blurred, 1: as it is
void invert(Canvas& canvas);
void solarize(Canvas& canvas, double threshold);  ///< levels of at least this are inverted
void posterize(Canvas& canvas, int bits);         ///< keeps the upper bits, 0 to 8
void autocontrast(Canvas& canvas);                ///< each channel's levels to 0 .. 255
void equalize(Canvas& canvas);                    ///< each channel's levels as often as others
void to_grey(Canvas& canvas);                     ///< in all channels

}  // namespace brigade
