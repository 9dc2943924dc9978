#include "stages/image/mixing.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace brigade {
namespace {

/// Bit by bit; of zeros the sign does not count.
template <class T>
bool are_equal(T a, T b) {
  return a.bits == b.bits || ((a.bits | b.bits) & 0x7fff) == 0;
}

/// Another way of rounding than to_half()'s.
Half rounded_to_half(float value) {
  const auto sign = static_cast<std::uint16_t>(std::signbit(value) ? 0x8000 : 0);
  const float size = std::fabs(value);
  if (std::isnan(value)) return {static_cast<std::uint16_t>(sign | 0x7e00)};
  if (size >= 65520) return {static_cast<std::uint16_t>(sign | 0x7c00)};
  // Adding this power of two leaves exactly the bits that fit, rounded by the processor.
  const int exponent = size < 0x1p-14f ? -14 : std::ilogb(size);
  const float anchor = std::ldexp(1.0f, exponent + 13);
  const float rounded = (size + anchor) - anchor;
  if (rounded < 0x1p-14f) return {static_cast<std::uint16_t>(sign | int(rounded * 0x1p24f))};
  const int rounded_exponent = std::ilogb(rounded);
  const int mantissa = static_cast<int>(std::ldexp(rounded, 10 - rounded_exponent)) - 1024;
  return {static_cast<std::uint16_t>(sign | (rounded_exponent + 15) << 10 | mantissa)};
}

TEST(MixingTest, SharesOfTheTiniestAlphasAreAllOrNothing) {
  for (const double alpha : {1e-6, 1e-300, 1e-308, 1e-320, 5e-324}) {
    int ones = 0;
    for (std::uint64_t i = 0; i < 2000; ++i) {
      Philox random(3, 4, 0, i);
      const double share = draw_beta(random, alpha);
      ASSERT_TRUE(share < 1e-3 || share > 1 - 1e-3) << share;
      ones += share > 0.5 ? 1 : 0;
    }
    EXPECT_NEAR(ones, 1000, 120) << alpha;
  }
}

TEST(MixingTest, SharesAreDistributedAsBeta) {
  constexpr int kDraws = 20000;
  for (const double alpha : {0.05, 0.2, 1.0, 1.5, 8.0}) {
    double sum = 0;
    double squares = 0;
    double quarter = 0;
    for (int i = 0; i < kDraws; ++i) {
      Philox random(3, 4, 0, static_cast<std::uint64_t>(i));
      const double share = draw_beta(random, alpha);
      ASSERT_TRUE(share >= 0 && share <= 1) << share;
      sum += share;
      squares += (share - 0.5) * (share - 0.5);
      quarter += share < 0.25 ? 1 : 0;
    }
    // Beta(a, a) has the mean 1/2 and the variance 1 / (8 a + 4); Beta(1, 1) is uniform.
    const double variance = 1 / (8 * alpha + 4);
    const double error = 5 / std::sqrt(kDraws);
    EXPECT_NEAR(sum / kDraws, 0.5, error * std::sqrt(variance)) << alpha;
    EXPECT_NEAR(squares / kDraws, variance, error * variance) << alpha;
    if (alpha == 1.0) {
      EXPECT_NEAR(quarter / kDraws, 0.25, error / 2);
    }
  }
}

TEST(MixingTest, EveryHalfIsReadAndWrittenAsItself) {
  std::vector<Half> halves;
  std::vector<BFloat16> bfloats;
  for (std::uint32_t bits = 0; bits < 65536; ++bits) {
    if ((bits & 0x7c00) != 0x7c00) halves.push_back({static_cast<std::uint16_t>(bits)});
    if ((bits & 0x7f80) != 0x7f80) bfloats.push_back({static_cast<std::uint16_t>(bits)});
  }
  std::vector<Half> halves_out(halves.size());
  const auto count = static_cast<std::int64_t>(halves.size());
  mix_numbers(f16, halves.data(), halves.data(), 1, count, halves_out.data());
  for (std::size_t i = 0; i < halves.size(); ++i)
    ASSERT_TRUE(are_equal(halves_out[i], halves[i])) << i;
  std::vector<BFloat16> bfloats_out(bfloats.size());
  mix_numbers(bf16, bfloats.data(), bfloats.data(), 1, static_cast<std::int64_t>(bfloats.size()),
              bfloats_out.data());
  for (std::size_t i = 0; i < bfloats.size(); ++i)
    ASSERT_TRUE(are_equal(bfloats_out[i], bfloats[i])) << i;
}

TEST(MixingTest, WhatIsTooLargeForAHalfIsInfinite) {
  // One times the weight is any number, exactly.
  for (const auto& [weight, expected] :
       {std::pair{65504.F, 0x7bff}, {65519.F, 0x7bff}, {65520.F, 0x7c00}, {1e6F, 0x7c00}})
    for (const int sign : {0, 0x8000}) {
      const Half one{static_cast<std::uint16_t>(0x3c00 | sign)};
      const Half zero{0};
      Half out{};
      mix_numbers(f16, &one, &zero, weight, 1, &out);
      EXPECT_EQ(out.bits, expected | sign) << weight;
    }
}

TEST(MixingTest, InfinitiesStayAndWhatIsNoNumberStaysNone) {
  const std::vector<Half> halves = {{0x7c00}, {0xfc00}, {0x7e00}, {0x7c01}};
  const std::vector<Half> zeros(4);
  std::vector<Half> out(4);
  mix_numbers(f16, halves.data(), zeros.data(), 0.5F, 4, out.data());
  EXPECT_EQ(out[0].bits, 0x7c00);
  EXPECT_EQ(out[1].bits, 0xfc00);
  EXPECT_GT(out[2].bits & 0x7fff, 0x7c00);
  EXPECT_GT(out[3].bits & 0x7fff, 0x7c00);
  const std::vector<BFloat16> bfloats = {{0x7f80}, {0xff80}, {0x7fc0}, {0x7f81}};
  const std::vector<BFloat16> no_bfloats(4);
  std::vector<BFloat16> bfloats_out(4);
  mix_numbers(bf16, bfloats.data(), no_bfloats.data(), 0.5F, 4, bfloats_out.data());
  EXPECT_EQ(bfloats_out[0].bits, 0x7f80);
  EXPECT_EQ(bfloats_out[1].bits, 0xff80);
  EXPECT_GT(bfloats_out[2].bits & 0x7fff, 0x7f80);
  EXPECT_GT(bfloats_out[3].bits & 0x7fff, 0x7f80);
}

TEST(MixingTest, MixedNumbersAreRoundedToTheNearest) {
  Philox random(1, 2, 3, 4);
  for (int i = 0; i < 20000; ++i) {
    const auto weight = static_cast<float>(random.uniform());
    const double scale = std::exp(random.uniform(-12, 3));
    const Half a = rounded_to_half(static_cast<float>(random.uniform(-scale, scale)));
    const Half b = rounded_to_half(static_cast<float>(random.uniform(-scale, scale)));
    // Once more with `a` as it is.
    const Half zero{0};
    Half kept{};
    mix_numbers(f16, &a, &zero, 1, 1, &kept);
    ASSERT_TRUE(are_equal(kept, a));
    const auto value = [](Half half) {
      const double size = (half.bits & 0x7c00) == 0
                              ? std::ldexp(half.bits & 0x3ff, -24)
                              : std::ldexp(1024 + (half.bits & 0x3ff), (half.bits >> 10 & 31) - 25);
      return static_cast<float>((half.bits & 0x8000) != 0 ? -size : size);
    };
    Half mixed{};
    mix_numbers(f16, &a, &b, weight, 1, &mixed);
    const float expected = value(a) * weight + value(b) * (1 - weight);
    ASSERT_TRUE(are_equal(mixed, rounded_to_half(expected))) << expected;
  }
  const std::vector<std::uint8_t> dark = {0, 10, 255, 255};
  const std::vector<std::uint8_t> light = {255, 11, 0, 255};
  std::vector<std::uint8_t> out(4);
  mix_numbers(u8, dark.data(), light.data(), 0.25F, 4, out.data());
  EXPECT_EQ(out, (std::vector<std::uint8_t>{191, 11, 64, 255}));
}

TEST(MixingTest, BoxesStayInThePictureAndHaveAboutTheirShare) {
  double area = 0;
  for (std::uint64_t i = 0; i < 2000; ++i) {
    Philox random(1, 2, 0, i);
    const CutBox box = draw_cut_box(random, 0.75, 20, 30);
    ASSERT_TRUE(box.top >= 0 && box.left >= 0 && box.bottom <= 20 && box.right <= 30);
    ASSERT_LE(box.pixels(), 150);
    area += static_cast<double>(box.pixels());
  }
  EXPECT_GT(area / 2000, 80);
  Philox random(1, 2, 0, 0);
  EXPECT_EQ(draw_cut_box(random, 1, 20, 30).pixels(), 0);
}

}  // namespace
}  // namespace brigade
