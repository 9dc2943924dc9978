#pragma once

// The inner loops of adjust.h's color changes, once for any processor and once more for
// each instruction set that makes them faster. They are one source: a level is computed by
// the same operations on floats in the same order, so that an image does not depend on the
// machine that made it. The variant is chosen at run time. Pure functions, any thread.
//
// `from` and `to` are RGB, three bytes for each pixel, and may be the same.

#include <cstdint>
#include <span>

namespace brigade {

/// factor x level + rest x other, cut to a level.
struct LevelBlend {
  explicit LevelBlend(double of)
      : factor(static_cast<float>(of)), rest(static_cast<float>(1 - of)) {}
  float factor;
  float rest;
};

struct ColorKernels {
  const char* name;
  /// Of each byte with one other level.
  void (*blend)(const std::uint8_t* from, std::int64_t bytes, LevelBlend blend, float other,
                std::uint8_t* to);
  /// Of each pixel with its grey.
  void (*saturate)(const std::uint8_t* from, std::int64_t pixels, LevelBlend blend,
                   std::uint8_t* to);
  /// `turn`: -0.5 to 0.5 of the circle of hues.
  void (*turn_hue)(const std::uint8_t* from, std::int64_t pixels, float turn, std::uint8_t* to);
  /// Of all pixels' greys: ITU-R BT.601, each cut to a level.
  std::uint64_t (*sum_greys)(const std::uint8_t* from, std::int64_t pixels);
  /// Pixels in the reverse order; `to` is apart from `from`.
  void (*reverse)(const std::uint8_t* from, std::int64_t pixels, std::uint8_t* to);
};

/// Those that this processor has, the slowest ("plain") first, the fastest last.
std::span<const ColorKernels> color_kernels();

}  // namespace brigade
