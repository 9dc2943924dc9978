#pragma once

// Where the channels of a picture are: behind each pixel (HWC), or as a plane for each (CHW). A
// type of a tensor does not say it, so a stage has a parameter, and its sizes tell where that is
// not given. Pure functions.

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
