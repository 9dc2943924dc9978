#include "stages/basic/half_float.h"

#include <gtest/gtest.h>

#include <limits>

namespace brigade {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

/// The value of a half, by the definition of the format.
float value_of(Half half) {
  const int exponent = half.bits >> 10 & 31;
  const int mantissa = half.bits & 1023;
  const float sign = half.bits & 0x8000 ? -1.0f : 1.0f;
  if (exponent == 0) return sign * std::ldexp(static_cast<float>(mantissa), -24);
  return sign * std::ldexp(static_cast<float>(1024 + mantissa), exponent - 25);
}

TEST(HalfFloatTest, EveryFiniteHalfIsItsOwnNearest) {
  for (std::uint32_t bits = 0; bits < 0x10000; ++bits) {
    if ((bits >> 10 & 31) == 31) continue;
    const Half half{static_cast<std::uint16_t>(bits)};
    ASSERT_EQ(to_half(value_of(half)).bits, bits);
  }
}

TEST(HalfFloatTest, MidpointsGoToTheEvenNeighbour) {
  for (std::uint16_t bits = 0; bits < 0x7bff; ++bits) {
    const Half low{bits};
    const Half high{static_cast<std::uint16_t>(bits + 1)};
    const float middle = (value_of(low) + value_of(high)) / 2;
    ASSERT_EQ(to_half(middle).bits, bits % 2 == 0 ? low.bits : high.bits);
    ASSERT_EQ(to_half(std::nextafter(middle, 0.0f)).bits, low.bits);
    ASSERT_EQ(to_half(std::nextafter(middle, kInfinity)).bits, high.bits);
  }
}

TEST(HalfFloatTest, BeyondTheLargestIsInfinityAndNanStays) {
  EXPECT_EQ(to_half(65519.996f).bits, 0x7bff);
  EXPECT_EQ(to_half(65520).bits, 0x7c00);
  EXPECT_EQ(to_half(-kInfinity).bits, 0xfc00);
  EXPECT_EQ(to_half(std::numeric_limits<float>::quiet_NaN()).bits & 0x7fff, 0x7e00);
}

TEST(BFloat16Test, RoundsTheUpperHalfToEven) {
  EXPECT_EQ(to_bfloat16(1.0f).bits, 0x3f80);
  EXPECT_EQ(to_bfloat16(-2.0f).bits, 0xc000);
  EXPECT_EQ(to_bfloat16(std::bit_cast<float>(0x3f808000)).bits, 0x3f80);
  EXPECT_EQ(to_bfloat16(std::bit_cast<float>(0x3f818000)).bits, 0x3f82);
  EXPECT_EQ(to_bfloat16(std::bit_cast<float>(0x3f808001)).bits, 0x3f81);
  EXPECT_EQ(to_bfloat16(std::numeric_limits<float>::max()).bits, 0x7f80);
  EXPECT_EQ(to_bfloat16(std::bit_cast<float>(0x7f800001)).bits, 0x7fc0);
}

}  // namespace
}  // namespace brigade
