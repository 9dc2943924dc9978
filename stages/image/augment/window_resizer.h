#pragma once

// Resizes a window of the canvas: by a triangle (geometry/resample.h), a cubic filter
// (geometry/cubic.h) or the nearest pixel. One thread; memory is kept between images.

#include <cstdint>
#include <vector>

#include "stages/image/augment/canvas.h"
#include "stages/image/geometry/cubic.h"
#include "stages/image/geometry/resample.h"

namespace brigade {

enum class ResizeFilter : std::uint8_t { bilinear, bicubic, nearest };

class WindowResizer {
 public:
  struct Options {
    ResizeFilter filter = ResizeFilter::bilinear;
    bool antialias = true;  ///< of bilinear and bicubic
  };

  /// The window lies within the picture, its first pixel at (y, x).
  void run(Canvas& canvas, std::int64_t y, std::int64_t x, PictureSize window, PictureSize size,
           const Options& options);

 private:
  void bilinear(Canvas& canvas, std::int64_t y, std::int64_t x, PictureSize window,
                PictureSize size, bool antialias);
  void nearest(Canvas& canvas, std::int64_t y, std::int64_t x, PictureSize window,
               PictureSize size);

  AxisWeights rows_;
  AxisWeights columns_;
  Resampler resampler_;
  CubicResizer cubic_;
  std::vector<std::int64_t> offsets_;
};

}  // namespace brigade
