#include "stages/image/augment/color_kernels.h"

#include <gtest/gtest.h>

#include <brigade/random.h>
#include <functional>
#include <vector>

namespace brigade {
namespace {

using Bytes = std::vector<std::uint8_t>;

/// All colours of a grid that has the darkest and the brightest, all greys, and noise.
Bytes many_colors() {
  Bytes colors;
  for (int r = 0; r <= 255; r += 17)
    for (int g = 0; g <= 255; g += 15)
      for (int b = 0; b <= 255; b += 5)
        for (const int level : {r, g, b}) colors.push_back(static_cast<std::uint8_t>(level));
  for (int level = 0; level <= 255; ++level)
    colors.insert(colors.end(), 3, static_cast<std::uint8_t>(level));
  Philox random(1, 2, 3, 4);
  for (int i = 0; i < 3 * 50'000; ++i)
    colors.push_back(static_cast<std::uint8_t>(random.below(256)));
  return colors;
}

/// `run(kernels, from, pixels, to)` of all kernels gives what the plain ones give, of any number of
/// pixels, in place too unless `apart`, and writes nothing behind them.
void expect_equal(const std::function<void(const ColorKernels&, const std::uint8_t*, std::int64_t,
                                           std::uint8_t*)>& run,
                  bool apart = false) {
  const Bytes all = many_colors();
  const auto most = static_cast<std::int64_t>(all.size() / 3);
  for (const ColorKernels& kernels : color_kernels())
    for (std::int64_t pixels :
         {most, std::int64_t{0}, std::int64_t{1}, std::int64_t{5}, std::int64_t{6}, std::int64_t{7},
          std::int64_t{8}, std::int64_t{9}, std::int64_t{11}, std::int64_t{25}}) {
      const Bytes from(all.end() - pixels * 3, all.end());
      Bytes plain(from.size() + 1, 77);
      run(color_kernels().front(), from.data(), pixels, plain.data());
      Bytes found(from.size() + 1, 77);
      run(kernels, from.data(), pixels, found.data());
      EXPECT_EQ(found, plain) << kernels.name << pixels;
      EXPECT_EQ(found.back(), 77);
      if (apart) continue;
      Bytes in_place = from;
      run(kernels, in_place.data(), pixels, in_place.data());
      in_place.push_back(77);
      EXPECT_EQ(in_place, plain) << kernels.name << pixels;
    }
}

TEST(ColorKernelsTest, ThePlainOnesComeFirstAndRunEverywhere) {
  ASSERT_FALSE(color_kernels().empty());
  EXPECT_STREQ(color_kernels().front().name, "plain");
}

TEST(ColorKernelsTest, GiveTheSameWhateverTheInstructions) {
  for (const double factor : {0.0, 0.3, 0.999, 1.0, 1.7, 1000.0}) {
    const LevelBlend blend(factor);
    for (const float other : {0.0F, 117.3F})
      expect_equal([=](const auto& kernels, const auto* from, std::int64_t pixels, auto* to) {
        kernels.blend(from, pixels * 3, blend, other, to);
      });
    expect_equal([=](const auto& kernels, const auto* from, std::int64_t pixels, auto* to) {
      kernels.saturate(from, pixels, blend, to);
    });
  }
  for (const float turn : {-0.5F, -0.1F, 0.0F, 1e-8F, 0.03F, 0.5F})
    expect_equal([=](const auto& kernels, const auto* from, std::int64_t pixels, auto* to) {
      kernels.turn_hue(from, pixels, turn, to);
    });
  expect_equal([](const auto& kernels, const auto* from, std::int64_t pixels,
                  auto* to) { kernels.reverse(from, pixels, to); },
               true);
}

TEST(ColorKernelsTest, SumsOfGreysAreTheSameWhateverTheInstructions) {
  const Bytes white(3 * ((std::size_t{2} << 20) + 5), 255);  // more than lanes are added up for
  const Bytes colors = many_colors();
  for (const ColorKernels& kernels : color_kernels()) {
    EXPECT_EQ(kernels.sum_greys(white.data(), (2 << 20) + 5), 254u * ((2 << 20) + 5));
    for (const std::int64_t pixels : {0, 1, 7, 8, 9, 20'001})
      EXPECT_EQ(kernels.sum_greys(colors.data(), pixels),
                color_kernels().front().sum_greys(colors.data(), pixels))
          << kernels.name << pixels;
  }
}

TEST(ColorKernelsTest, AHueTurnsRedToGreenAndBack) {
  const Bytes red = {200, 20, 20};
  for (const ColorKernels& kernels : color_kernels()) {
    Bytes turned(3);
    kernels.turn_hue(red.data(), 1, 1.0F / 3, turned.data());
    EXPECT_EQ(turned, (Bytes{20, 200, 20})) << kernels.name;
  }
}

}  // namespace
}  // namespace brigade
