// python/tests/augment_test.py compares it with torch's.

#include "stages/image/geometry/cubic.h"

#include <gtest/gtest.h>

namespace brigade {
namespace {

std::vector<std::uint8_t> resized(const std::vector<std::uint8_t>& pixels, std::int64_t in,
                                  std::int64_t out, bool antialias) {
  CubicResizer resizer;
  std::vector<std::uint8_t> to(static_cast<std::size_t>(out * out));
  resizer.run({pixels.data(), in, in, in, 1}, out, out, antialias, to.data());
  return to;
}

TEST(CubicTest, AnEvenColourAndAPictureOfItsSizeStay) {
  for (const bool antialias : {false, true}) {
    for (const std::int64_t in : {1, 2, 3, 9, 40})
      for (const std::int64_t out : {1, 2, 7, 40, 300})
        for (const std::uint8_t level :
             resized(std::vector<std::uint8_t>(static_cast<std::size_t>(in * in), 200), in, out,
                     antialias))
          ASSERT_EQ(level, 200) << in << " to " << out;
    std::vector<std::uint8_t> pixels(81);
    for (std::size_t i = 0; i < pixels.size(); ++i) pixels[i] = static_cast<std::uint8_t>(i * 31);
    EXPECT_EQ(resized(pixels, 9, 9, antialias), pixels);
  }
}

TEST(CubicTest, WhatWouldOvershootEndsAtTheLimits) {
  std::vector<std::uint8_t> pixels(64);
  for (std::size_t i = 0; i < pixels.size(); ++i) pixels[i] = i % 8 < 4 ? 0 : 255;
  const auto wide = resized(pixels, 8, 32, false);
  EXPECT_EQ(wide[0], 0);
  EXPECT_EQ(wide[31], 255);
  for (std::size_t x = 0; x + 1 < 32; ++x) EXPECT_LE(wide[x], wide[x + 1]);
}

}  // namespace
}  // namespace brigade
