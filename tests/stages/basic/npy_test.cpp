#include "stages/api/npy_header.h"
#include "stages/basic/half_float.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include <brigade/harness.h>
#include "stages/basic/basic_stages.h"
#include "tests/support/images/idx_files.h"
#include "tests/support/only_type.h"
#include "tests/support/temporary_folder.h"

namespace brigade {
namespace {

using namespace testing_support;

TEST(NpyTest, AFileThatChangedAfterTheCheckIsRefused) {
  const TemporaryFolder folder;
  const std::string points = folder.write("points.npy", npy_header("<f4", "(1, 2)") + "floats..");
  const StageType& type = only_type<add_npy>();
  const auto params = make_params(type.contract, {{"files", "{x: " + points + "}"}}).value();
  OpenContext context;
  context.params_data = params.get();
  context.params_type = type.contract.params_type;
  context.outputs = {{"x", f32, {5}}};
  EXPECT_EQ(type.make_producer()->open(context).error().message,
            points + ": changed after the graph was checked: it now contains x f32[2]");
}

TEST(NpyHeaderTest, PrintsWhatItReads) {
  for (const Shape& shape : {Shape{7}, Shape{60000, 28, 28}}) {
    for (const DType dtype : {boolean, u8, i8, i16, i32, i64, f16, f32, f64}) {
      const std::string head = print_npy_header(dtype, shape).value();
      EXPECT_EQ(head.size() % 64, 0u);
      const auto read = parse_npy_header("a.npy", head);
      ASSERT_TRUE(read.ok()) << read.error().message;
      EXPECT_EQ(read->dtype, dtype);
      EXPECT_EQ(read->shape, shape);
      EXPECT_EQ(read->bytes, head.size());
    }
  }
  EXPECT_FALSE(print_npy_header(bf16, Shape{7}));
}

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
    ASSERT_EQ(to_float(half), value_of(half));
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
  EXPECT_EQ(to_float(Half{0xfc00}), -kInfinity);
  EXPECT_TRUE(std::isnan(to_float(Half{0x7c01})) && std::isnan(to_float(BFloat16{0x7f81})));
  EXPECT_EQ(to_half(std::numeric_limits<float>::quiet_NaN()).bits & 0x7fff, 0x7e00);
}

TEST(BFloat16Test, RoundsTheUpperHalfToEven) {
  EXPECT_EQ(to_bfloat16(1.0f).bits, 0x3f80);
  EXPECT_EQ(to_float(BFloat16{0xc000}), -2);
  EXPECT_EQ(to_bfloat16(-2.0f).bits, 0xc000);
  EXPECT_EQ(to_bfloat16(std::bit_cast<float>(0x3f808000)).bits, 0x3f80);
  EXPECT_EQ(to_bfloat16(std::bit_cast<float>(0x3f818000)).bits, 0x3f82);
  EXPECT_EQ(to_bfloat16(std::bit_cast<float>(0x3f808001)).bits, 0x3f81);
  EXPECT_EQ(to_bfloat16(std::numeric_limits<float>::max()).bits, 0x7f80);
  EXPECT_EQ(to_bfloat16(std::bit_cast<float>(0x7f800001)).bits, 0x7fc0);
}

}  // namespace
}  // namespace brigade
