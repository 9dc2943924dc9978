#pragma once

// Resizes pixels, mostly RGB, with a triangle filter, in two passes: for each output row, the input
// rows under it are added up column by column, then the columns of that one row. Weights are
// computed once per image and axis, so that the inner loops are sums of products.
//
//   antialias   the triangle is as wide as the reduction: what Pillow's BILINEAR and torchvision's
//               antialias=True compute (Pillow, src/libImaging/Resample.c)
//   bilinear    the triangle is two pixels wide whatever the reduction
//
// Pixel centers are at x + 0.5; at the edges of the input, the missing part of the
// triangle is omitted. Weights have 14 bits and each set adds up to exactly 2^14, the
// intermediate row has 15 bits: a uniform color does not change, and no pixel is further
// than 1 from the exact result, rounded. The inner loops are in resample_kernels.h.
//
// One thread; a Resampler keeps its memory between images.

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <brigade/export.h>
#include "stages/image/geometry/resample_kernels.h"

namespace brigade {

/// Rows of pixels, a byte a channel.
struct Pixels {
  const std::uint8_t* data = nullptr;
  std::int64_t stride = 0;  ///< bytes from one row to the next
  std::int64_t height = 0;
  std::int64_t width = 0;
  int channels = 3;
};

/// What an axis of `in` pixels becomes: `resized` pixels, of which `count` from `first` on are
/// made. Of an image that was shrunk while it was read, a part begins and ends inside a pixel.
struct AxisResize {
  std::int64_t in = 0;
  std::int64_t resized = 0;
  std::int64_t first = 0;
  std::int64_t count = 0;
  double begin = 0;   ///< in the first pixel
  double length = 0;  ///< from there on; 0: all pixels
};

/// For each output pixel of an axis, its weights and the first input pixel they belong to.
class BRIGADE_API AxisWeights {
 public:
  static constexpr int kBits = 14;

  void prepare(const AxisResize& resize, bool antialias);
  /// Output pixels in reverse order.
  void mirror();

  /// The input pixels that have a weight: [first_needed, end_needed).
  std::int64_t first_needed() const { return first_needed_; }
  std::int64_t end_needed() const { return end_needed_; }

  std::int64_t count() const { return static_cast<std::int64_t>(firsts_.size()); }
  std::int64_t taps() const { return taps_; }
  /// Of output pixel i; relative to first_needed().
  std::int64_t first(std::int64_t i) const { return firsts_[static_cast<std::size_t>(i)]; }
  std::span<const std::int16_t> weights(std::int64_t i) const {
    return {weights_.data() + i * taps_, static_cast<std::size_t>(taps_)};
  }
  bool copies() const { return copies_; }  ///< every output pixel is an input pixel

 private:
  void set_weights(std::int64_t i, std::int64_t in, double center, double width);

  std::int64_t taps_ = 0;
  std::int64_t first_needed_ = 0;
  std::int64_t end_needed_ = 0;
  bool copies_ = false;
  std::vector<std::int64_t> firsts_;
  std::vector<std::int16_t> weights_;  // [count, taps]
  std::vector<double> exact_;          // of one output pixel
};

class BRIGADE_API Resampler {
 public:
  explicit Resampler(const ResampleKernels& kernels = resample_kernels().back())
      : kernels_(kernels) {}

  /// `in` holds the pixels [first_needed, end_needed) of both axes. Writes rows.count() rows of
  /// columns.count() pixels of as many channels, `out_stride` bytes apart.
  void run(const Pixels& in, const AxisWeights& rows, const AxisWeights& columns, std::uint8_t* out,
           std::int64_t out_stride);

 private:
  ResampleKernels kernels_;
  ColumnWeights columns_;
  std::vector<std::int16_t> row_;  // between the passes
  std::vector<const std::uint8_t*> sources_;
};

}  // namespace brigade
