#pragma once

// The inner loops of a warp: pixels of the result, each looked up in the image at
// its place. Once as plain C++, and once more for each instruction set that makes
// them faster. They are one computation, in the same order on floats, so that an
// image does not depend on the machine that made it; the variant is chosen at run
// time. Places and the treatment of the border are those of torchvision's
// tensors. Places may be anywhere, and may be NaN. Pure functions, any thread.

#include <cstdint>
#include <span>

#include "stages/image/geometry/picture_move.h"

namespace brigade {

/// u8 [height, width, channels] with at most 32 channels, and what lies around it.
struct WarpSource {
  const std::uint8_t* pixels;
  PictureSize size;
  std::int64_t channels;
  std::uint8_t fill = 0;   ///< of all channels, where a place is outside of the picture
  bool fill_shows = true;  ///< false: torchvision's fill of None, for pixels half outside
};

struct WarpKernels {
  /// `count` pixels: pixel i lies at rows[i], columns[i], from pixel centre to pixel centre.
  using Run = void (*)(const WarpSource& source, const float* rows, const float* columns,
                       std::int64_t count, std::uint8_t* to);
  const char* name;
  Run nearest;
  Run bilinear;
};

/// Those that this processor has, the slowest ("plain") first, the fastest last.
std::span<const WarpKernels> warp_kernels();

}  // namespace brigade
