#include "stages/api/channel_order.h"

#include <gtest/gtest.h>

#include <brigade/text.h>

namespace brigade {
namespace {

std::string order(const std::vector<Dim>& shape, ChannelOrder said = ChannelOrder::guess) {
  const auto sizes = picture_sizes({"image", f32, shape}, said);
  if (!sizes) return sizes.error().message;
  return concat(sizes->order == ChannelOrder::chw ? "CHW" : "HWC", " of ", sizes->height, " x ",
                sizes->width, " x ", sizes->channels);
}

TEST(ChannelOrderTest, FollowsFromOneOrThreeChannels) {
  EXPECT_EQ(order({28, 20, 1}), "HWC of 28 x 20 x 1");
  EXPECT_EQ(order({28, 20, 3}), "HWC of 28 x 20 x 3");
  EXPECT_EQ(order({1, 28, 20}), "CHW of 28 x 20 x 1");
  EXPECT_EQ(order({3, 28, 20}), "CHW of 28 x 20 x 3");
  EXPECT_EQ(order({up_to(64), 3, 3}), "HWC of 64 x 3 x 3");
  EXPECT_EQ(order({1, 1, 1}), "HWC of 1 x 1 x 1") << "the same in both";
}

TEST(ChannelOrderTest, ThatDoesNotFollowIsAskedFor) {
  for (const std::vector<Dim>& shape :
       std::vector<std::vector<Dim>>{{28, 20, 4}, {3, 20, 1}, {3, 3, 3}, {2, 28, 20}})
    EXPECT_EQ(order(shape), concat("whether channels come first or last does not follow from ",
                                   TensorType{"image", f32, shape}.text(),
                                   "; say `layout: CHW` or `layout: HWC`"));
}

TEST(ChannelOrderTest, IsWhatTheParameterSays) {
  EXPECT_EQ(order({3, 20, 1}, ChannelOrder::chw), "CHW of 20 x 1 x 3");
  EXPECT_EQ(order({3, 20, 1}, ChannelOrder::hwc), "HWC of 3 x 20 x 1");
  EXPECT_EQ(order({4, 28, 20}, ChannelOrder::chw), "CHW of 28 x 20 x 4");
}

}  // namespace
}  // namespace brigade
