#pragma once

// The arithmetic of mixup (Zhang, Cisse, Dauphin, Lopez-Paz: "mixup: Beyond
// Empirical Risk Minimization", ICLR 2018) and CutMix (Yun et al.: "CutMix:
// Regularization Strategy to Train Strong Classifiers with Localizable
// Features", ICCV 2019), as in torchvision's transforms.v2. Pure functions.

#include <cstddef>
#include <cstdint>

#include <brigade/export.h>
#include <brigade/random.h>
#include <brigade/result.h>
#include <brigade/tensor.h>

namespace brigade {

/// Of the distribution Beta(alpha, alpha), alpha > 0, in [0, 1]. Draws: up to 1, tries of two
/// uniform() (Joehnk 1964); beyond, two numbers of the gamma distribution, each by tries of
/// normal() and uniform() (Marsaglia and Tsang 2000).
BRIGADE_API double draw_beta(Philox& random, double alpha);

/// to[i] = weight * a[i] + (1 - weight) * b[i], computed in float and rounded. u8, f16, bf16, f32.
BRIGADE_API void mix_numbers(DType dtype, const void* a, const void* b, float weight,
                             std::int64_t count, void* to);

/// Rows [top, bottom) and columns [left, right) of a picture.
struct CutBox {
  std::int64_t top = 0;
  std::int64_t left = 0;
  std::int64_t bottom = 0;
  std::int64_t right = 0;
  std::int64_t pixels() const { return (bottom - top) * (right - left); }
};
/// Of about 1 - weight of the area, around a drawn pixel, cut at the edges. Draws: below(width),
/// below(height).
BRIGADE_API CutBox draw_cut_box(Philox& random, double weight, std::int64_t height,
                                std::int64_t width);

/// A picture as planes of rows of pixels: HWC is one plane, CHW has a plane for each channel.
struct PictureLayout {
  std::int64_t planes = 1;
  std::int64_t height = 0;
  std::int64_t width = 0;
  std::int64_t pixel_bytes = 1;
};
/// Copies the box of `from` to where it is in `to`.
BRIGADE_API void paste_box(const PictureLayout& layout, const CutBox& box, const std::byte* from,
                           std::byte* to);

}  // namespace brigade
