#include "stages/image/geometry/resample.h"

#include <gtest/gtest.h>

#include "tests/support/images/exact_resize.h"
#include "tests/support/images/test_images.h"

namespace brigade {
namespace {

using namespace testing_support;

Picture resized(const Picture& in, std::int64_t height, std::int64_t width, bool antialias = true,
                bool mirrored = false) {
  AxisWeights rows, columns;
  rows.prepare({in.height, height, 0, height}, antialias);
  columns.prepare({in.width, width, 0, width}, antialias);
  const Picture part = part_of(in, rows.first_needed(), columns.first_needed(),
                               rows.end_needed() - rows.first_needed(),
                               columns.end_needed() - columns.first_needed());
  if (mirrored) columns.mirror();
  Picture out = blank(height, width, in.channels);
  Resampler().run(part.pixels(), rows, columns, out.bytes.data(), width * in.channels);
  return out;
}

struct Sizes {
  std::int64_t in_height, in_width, height, width;
};
constexpr Sizes kSizes[] = {{97, 61, 24, 24},  {97, 61, 96, 60},  {97, 61, 200, 150},
                            {61, 97, 1, 1},    {1, 1, 5, 7},      {3, 200, 30, 7},
                            {300, 20, 13, 64}, {64, 64, 32, 128}, {500, 375, 224, 224}};

TEST(ResampleTest, IsTheFilterRounded) {
  for (const Sizes& s : kSizes) {
    const Picture in = photograph(s.in_height, s.in_width);
    for (bool antialias : {true, false}) {
      SCOPED_TRACE(testing::Message() << s.in_height << " x " << s.in_width << " to " << s.height
                                      << " x " << s.width << ", antialias " << antialias);
      const Difference found = difference(resized(in, s.height, s.width, antialias),
                                          resize_exactly(in, s.height, s.width, antialias));
      EXPECT_LT(found.largest, 0.6);  // half of it is the rounding
      EXPECT_GT(found.equal, 0.93);
    }
  }
}

TEST(ResampleTest, TheReferenceSeesAWrongFilter) {
  const Picture in = photograph(97, 61);
  const Difference found = difference(resized(in, 24, 24, false), resize_exactly(in, 24, 24, true));
  EXPECT_LT(found.within_one, 0.9);
}

TEST(ResampleTest, EachOfAnyNumberOfChannelsIsWhatItIsInRgb) {
  for (const Sizes& s : kSizes)
    for (const std::int64_t channels : {1, 2, 4, 5, 8, 13, 32}) {
      const Picture in = photograph(s.in_height, s.in_width, channels);
      for (const bool mirrored : {false, true}) {
        const Picture found = resized(in, s.height, s.width, !mirrored, mirrored);
        for (const std::int64_t c : {std::int64_t{0}, channels / 2, channels - 1})
          ASSERT_EQ(channel_of(found, c),
                    resized(channel_of(in, c), s.height, s.width, !mirrored, mirrored))
              << c << " of " << channels << ", " << s.height << " x " << s.width;
      }
    }
}

TEST(ResampleTest, SameSizeIsTheSamePicture) {
  const Picture in = photograph(33, 47);
  EXPECT_EQ(resized(in, 33, 47), in);
  EXPECT_EQ(resized(in, 33, 47, false), in);
  const Picture many = photograph(33, 47, 8);
  EXPECT_EQ(resized(many, 33, 47), many);
}

TEST(ResampleTest, EvenColoursStay) {
  for (int level : {0, 1, 127, 254, 255}) {
    Picture in = blank(50, 70);
    std::fill(in.bytes.begin(), in.bytes.end(), static_cast<std::uint8_t>(level));
    for (const auto& [height, width] : {std::pair{7, 9}, std::pair{120, 90}, std::pair{1, 70}})
      for (std::uint8_t byte : resized(in, height, width).bytes) ASSERT_EQ(byte, level);
  }
}

TEST(ResampleTest, ManyTapsAddUpToOne) {
  AxisWeights weights;
  weights.prepare({100'000, 3, 0, 3}, true);
  for (std::int64_t i = 0; i < 3; ++i) {
    int sum = 0;
    for (int weight : weights.weights(i)) {
      EXPECT_GE(weight, 0);
      sum += weight;
    }
    EXPECT_EQ(sum, 1 << AxisWeights::kBits);
  }
}

TEST(ResampleTest, MirroredIsTheMirrorImage) {
  const Picture in = photograph(40, 60);
  for (const auto& [height, width] : {std::pair{16, 17}, std::pair{40, 60}, std::pair{41, 70}}) {
    const Picture plain = resized(in, height, width);
    Picture expected = plain;
    for (std::int64_t y = 0; y < height; ++y)
      for (std::int64_t x = 0; x < width; ++x)
        for (std::int64_t c = 0; c < 3; ++c) expected.at(y, x, c) = plain.at(y, width - 1 - x, c);
    EXPECT_EQ(resized(in, height, width, true, true), expected);
  }
}

TEST(ResampleTest, APartIsThatPartOfTheWhole) {
  const Picture in = photograph(50, 80);
  const Picture whole = resized(in, 20, 30);
  AxisWeights rows, columns;
  rows.prepare({50, 20, 4, 9}, true);
  columns.prepare({80, 30, 11, 12}, true);
  const std::int64_t y = rows.first_needed(), x = columns.first_needed();
  EXPECT_GT(y, 0);
  EXPECT_LT(columns.end_needed(), 80);
  const Picture part = part_of(in, y, x, rows.end_needed() - y, columns.end_needed() - x);
  Picture out = blank(9, 12);
  Resampler().run(part.pixels(), rows, columns, out.bytes.data(), 12 * 3);
  EXPECT_EQ(out, part_of(whole, 4, 11, 9, 12));
}

TEST(ResampleTest, WritesOnlyItsPixels) {
  const Picture in = photograph(20, 20);
  AxisWeights rows, columns;
  rows.prepare({20, 10, 0, 10}, true);
  columns.prepare({20, 10, 0, 10}, true);
  Picture out = blank(10, 14);
  std::fill(out.bytes.begin(), out.bytes.end(), 0xA5);
  Resampler().run(in.pixels(), rows, columns, out.bytes.data() + 6, 14 * 3);
  EXPECT_EQ(part_of(out, 0, 2, 10, 10), resized(in, 10, 10));
  for (std::int64_t y = 0; y < 10; ++y)
    for (std::int64_t x : {0, 1, 12, 13}) EXPECT_EQ(out.at(y, x, 0), 0xA5);
}

}  // namespace
}  // namespace brigade
