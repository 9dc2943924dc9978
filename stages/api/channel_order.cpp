#include "stages/api/channel_order.h"

#include <brigade/text.h>

namespace brigade {

Result<PictureSizes> picture_sizes(const TensorType& image, ChannelOrder said) {
  const Shape shape = image.bounds();
  if (said == ChannelOrder::guess) {
    const auto may_be_channels = [](std::int64_t size) { return size == 1 || size == 3; };
    const bool first = may_be_channels(shape[0]);
    const bool last = may_be_channels(shape[2]);
    if (first == last && shape != Shape{1, 1, 1})
      return Error{concat("cannot tell the channel order from ", image.text(),
                          "; write `layout: CHW` or `layout: HWC`")};
    said = last ? ChannelOrder::hwc : ChannelOrder::chw;
  }
  if (said == ChannelOrder::chw) return PictureSizes{said, shape[1], shape[2], shape[0]};
  return PictureSizes{said, shape[0], shape[1], shape[2]};
}

}  // namespace brigade
