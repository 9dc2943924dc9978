#include "stages/image/mixing.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <vector>

#include "stages/basic/half_float.h"

namespace brigade {
namespace {

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

/// The conversions are asked for by HalfFloatTest and BFloat16Test.
template <class T>
void expect_mixed(DType dtype, const std::function<T(float)>& narrow) {
  Philox random(1, 2, 3, 4);
  for (int i = 0; i < 20000; ++i) {
    const auto draw = [&] { return narrow(static_cast<float>(random.uniform(-9, 9))); };
    const T a = draw(), b = draw();
    const auto weight = static_cast<float>(random.uniform());
    T mixed{}, kept{};
    mix_numbers(dtype, &a, &b, weight, 1, &mixed);
    ASSERT_EQ(mixed.bits, narrow(to_float(a) * weight + to_float(b) * (1 - weight)).bits);
    mix_numbers(dtype, &a, &b, 1, 1, &kept);
    ASSERT_EQ(to_float(kept), to_float(a));
  }
}

TEST(MixingTest, MixedNumbersAreRoundedToTheNearest) {
  expect_mixed<Half>(f16, to_half);
  expect_mixed<BFloat16>(bf16, to_bfloat16);
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
