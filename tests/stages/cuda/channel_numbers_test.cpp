#include "stages/cuda/channel_numbers.h"

#include <gtest/gtest.h>

namespace brigade::cuda {
namespace {

TEST(ChannelNumbers, AreOneForEachOrOneForAll) {
  EXPECT_TRUE(check_channel_numbers("mean", {0.5}, 3).ok());
  EXPECT_TRUE(check_channel_numbers("mean", {0.5, 0.25, 1}, 3).ok());
  EXPECT_EQ(check_channel_numbers("mean", {0.5, 0.25}, 3).error().message,
            "mean has 2 numbers, the image has 3 channels; give one number for all channels, or "
            "one for each");
  EXPECT_EQ(of_channels({0.5})[kChannelsMax - 1], 0.5F);
  const OfChannels three = of_channels({0.5, 0.25, 1});
  EXPECT_EQ(three[0], 0.5F);
  EXPECT_EQ(three[1], 0.25F);
  EXPECT_EQ(three[2], 1.0F);
}

}  // namespace
}  // namespace brigade::cuda
