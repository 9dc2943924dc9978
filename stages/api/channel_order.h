#pragma once

// The channel order of an image: last (HWC), or as a plane for each channel
// (CHW). The type of a tensor does not contain it, so a stage has a parameter;
// without it, the order is inferred from the sizes. Pure functions.

#include <cstdint>

#include <brigade/export.h>
#include <brigade/result.h>
#include <brigade/types.h>

namespace brigade {

enum class ChannelOrder : std::uint8_t { guess, hwc, chw };

struct PictureSizes {
  ChannelOrder order = ChannelOrder::hwc;  ///< never `guess`
  std::int64_t height = 0;
  std::int64_t width = 0;
  std::int64_t channels = 0;
};

/// Of three dimensions, upper bounds where ragged. With `guess` one of the first and the last is 1
/// or 3, the other is not (or all of them are 1): else an error that names the parameter `layout`.
BRIGADE_API Result<PictureSizes> picture_sizes(const TensorType& image, ChannelOrder said);

}  // namespace brigade
