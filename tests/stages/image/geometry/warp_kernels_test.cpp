#include "stages/image/geometry/warp_kernels.h"

#include <gtest/gtest.h>

#include <brigade/random.h>
#include <cmath>
#include <limits>
#include <vector>

namespace brigade {
namespace {

struct WarpCase {
  PictureSize size;
  std::int64_t channels = 0;
  std::vector<float> rows = {};
  std::vector<float> columns = {};
  std::vector<std::uint8_t> picture = {};

  WarpSource source(bool fill_shows) const {
    return {picture.data(), size, channels, 99, fill_shows};
  }
};

/// Places on a line across the picture that begins and ends outside of it, as those of a warp's row
/// do; or anywhere, with some on pixels and between two, some at the end and some that no picture
/// has.
WarpCase draw_case(Philox& random, int round) {
  const auto below = [&](std::int64_t n) {
    return static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(n)));
  };
  WarpCase made{.size = {1 + below(30), 1 + below(40)}, .channels = round % 2 == 0 ? 3 : 1};
  const std::int64_t count = below(90);
  const double start = random.uniform(-6, 30), slope = random.uniform(-0.7, 0.7);
  for (std::int64_t i = 0; i < count; ++i) {
    const double along = static_cast<double>(i) - 10;
    double row = start + slope * along, column = 0.9 * along;
    if (round % 3 == 0) row = random.uniform(-3, 33), column = random.uniform(-3, 43);
    if (round % 3 == 1) row = std::nearbyint(2 * row) / 2, column = std::nearbyint(2 * column) / 2;
    if (round % 11 == 0) {  // the last two pixels
      row = static_cast<double>(made.size.height) - random.uniform(1, 1.9);
      column = static_cast<double>(made.size.width) - random.uniform(1, 1.9);
    }
    made.rows.push_back(static_cast<float>(row));
    made.columns.push_back(static_cast<float>(column));
  }
  if (round % 7 == 0)
    for (const float far : {1e30F, -1e30F, 2147483648.0F, std::numeric_limits<float>::infinity(),
                            std::numeric_limits<float>::quiet_NaN()}) {
      made.rows.insert(made.rows.begin() + static_cast<std::ptrdiff_t>(made.rows.size() / 2), far);
      made.columns.insert(made.columns.begin(), 1);
    }
  // Nothing is behind it, so that a sanitizer sees what is read there.
  made.picture =
      std::vector<std::uint8_t>(static_cast<std::size_t>(made.size.pixels() * made.channels));
  for (std::uint8_t& level : made.picture) level = static_cast<std::uint8_t>(random.next());
  return made;
}

std::vector<std::uint8_t> looked_up(WarpKernels::Run kernel, const WarpCase& one, bool fill_shows) {
  std::vector<std::uint8_t> to(one.rows.size() * static_cast<std::size_t>(one.channels) + 1, 77);
  kernel(one.source(fill_shows), one.rows.data(), one.columns.data(),
         static_cast<std::int64_t>(one.rows.size()), to.data());
  EXPECT_EQ(to.back(), 77);
  return to;
}

TEST(WarpKernelsTest, ThePlainOnesComeFirstAndRunEverywhere) {
  ASSERT_FALSE(warp_kernels().empty());
  EXPECT_STREQ(warp_kernels().front().name, "plain");
}

TEST(WarpKernelsTest, GiveTheSameWhateverTheInstructions) {
  Philox random(1, 2, 3, 4);
  for (int round = 0; round < 2000; ++round) {
    const WarpCase one = draw_case(random, round);
    const bool shows = round % 4 < 2;
    for (const WarpKernels& kernels : warp_kernels()) {
      ASSERT_EQ(looked_up(kernels.nearest, one, shows),
                looked_up(warp_kernels()[0].nearest, one, shows))
          << kernels.name << round;
      ASSERT_EQ(looked_up(kernels.bilinear, one, shows),
                looked_up(warp_kernels()[0].bilinear, one, shows))
          << kernels.name << round;
    }
  }
}

/// 8 x 20 pixels of three channels: 10 to the right, 4 down, 1 for each channel, looked up along a
/// row of 16 places.
TEST(WarpKernelsTest, APlaceBetweenPixelsIsMixedAndOneOutsideIsFilled) {
  WarpCase one{.size = {8, 20}, .channels = 3};
  for (int y = 0; y < 8; ++y)
    for (int x = 0; x < 20; ++x)
      for (int c = 0; c < 3; ++c)
        one.picture.push_back(static_cast<std::uint8_t>(10 * x + 4 * y + c));
  for (int x = 0; x < 16; ++x) {
    one.rows.push_back(2.25F);
    one.columns.push_back(static_cast<float>(x) + 0.7F);
  }
  one.columns[15] = -1.5F;
  for (const WarpKernels& kernels : warp_kernels()) {
    const auto mixed = looked_up(kernels.bilinear, one, true);
    const auto nearest = looked_up(kernels.nearest, one, true);
    for (std::size_t i = 0; i < 45; ++i) {
      const auto x = static_cast<int>(i / 3), c = static_cast<int>(i % 3);
      EXPECT_EQ(mixed[i], 10 * x + 7 + 9 + c) << kernels.name << i;
      EXPECT_EQ(nearest[i], 10 * (x + 1) + 8 + c) << kernels.name << i;
    }
    for (std::size_t i = 45; i < 48; ++i) {
      EXPECT_EQ(mixed[i], 99) << kernels.name;
      EXPECT_EQ(nearest[i], 99) << kernels.name;
    }
  }
}

/// The middle between the border and what lies around it: half the picture, mixed once more by
/// half with the fill where that shows.
TEST(WarpKernelsTest, AtTheBorderTheFillShowsByTheShareOfThePicture) {
  const WarpCase one{.size = {3, 3},
                     .channels = 1,
                     .rows = std::vector<float>(9, 1),
                     .columns = std::vector<float>(9, -0.5F),
                     .picture = std::vector<std::uint8_t>(9, 100)};
  for (const WarpKernels& kernels : warp_kernels()) {
    EXPECT_EQ(looked_up(kernels.bilinear, one, false)[0], 50) << kernels.name;
    EXPECT_EQ(looked_up(kernels.bilinear, one, true)[0], 74) << kernels.name;  // 50 / 2 + 99 / 2
  }
}

}  // namespace
}  // namespace brigade
