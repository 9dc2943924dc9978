#include "stages/image/augment/blur_kernels.h"

#include <gtest/gtest.h>

#include <brigade/random.h>
#include <cmath>
#include <vector>

namespace brigade {
namespace {

/// Of a blur: all of them, those on both sides together, add up to one.
std::vector<float> draw_side(Philox& random, std::size_t count) {
  std::vector<float> weights(count);
  float sum = 0;
  for (float& weight : weights) {
    weight = static_cast<float>(random.below(1000) + 1);
    sum += &weight == &weights.front() ? weight : 2 * weight;
  }
  for (float& weight : weights) weight /= sum;
  return weights;
}

double exact_sum(const auto& sample, const std::vector<float>& weights) {
  double sum = 0;
  const auto reach = static_cast<std::ptrdiff_t>(weights.size()) - 1;
  for (std::ptrdiff_t k = -reach; k <= reach; ++k)
    sum += static_cast<double>(weights[static_cast<std::size_t>(std::abs(k))]) * sample(k);
  return sum;
}

TEST(BlurKernelsTest, ThePlainOnesComeFirstAndRunEverywhere) {
  ASSERT_FALSE(blur_kernels().empty());
  EXPECT_STREQ(blur_kernels().front().name, "plain");
}

TEST(BlurKernelsTest, RowsAddUpToTheSameWhateverTheInstructions) {
  Philox random(1, 2, 3, 4);
  for (int round = 0; round < 200; ++round) {
    const std::size_t count = 1 + random.below(150);
    const std::vector<float> weights = draw_side(random, 1 + random.below(12));
    std::vector<std::vector<std::uint8_t>> rows(2 * weights.size() - 1);
    std::vector<const std::uint8_t*> pointers;
    for (auto& row : rows) {
      for (std::size_t i = 0; i < count; ++i)  // of 255 in some rounds alone
        row.push_back(round % 5 == 0 ? 255 : static_cast<std::uint8_t>(random.next()));
      pointers.push_back(row.data());
    }
    const std::uint8_t* const* const middle = pointers.data() + weights.size() - 1;
    std::vector<float> plain(count + 1, -7);
    blur_kernels()[0].add_rows(middle, weights, static_cast<std::int64_t>(count), plain.data());
    for (std::size_t i = 0; i < count; ++i)
      ASSERT_NEAR(plain[i],
                  exact_sum([&](std::ptrdiff_t k) { return double{1} * middle[k][i]; }, weights),
                  1e-3);
    for (const BlurKernels& kernels : blur_kernels()) {
      std::vector<float> found(count + 1, -7);
      kernels.add_rows(middle, weights, static_cast<std::int64_t>(count), found.data());
      ASSERT_EQ(found, plain) << kernels.name << ", " << count << " samples";
    }
  }
}

TEST(BlurKernelsTest, ColumnsAddUpToTheSameWhateverTheInstructions) {
  Philox random(5, 6, 7, 8);
  for (int round = 0; round < 200; ++round) {
    const std::size_t count = 1 + random.below(150);
    const std::size_t step = 1 + 2 * random.below(2);
    const std::vector<float> weights = draw_side(random, 1 + random.below(12));
    const std::size_t border = (weights.size() - 1) * step;
    std::vector<float> row(count + 2 * border);
    for (float& sample : row)
      sample = round % 5 == 0 ? 255 : static_cast<float>(random.uniform(0, 255));
    std::vector<std::uint8_t> plain(count + 1, 77);
    for (const BlurKernels& kernels : blur_kernels()) {
      std::vector<std::uint8_t> found(count + 1, 77);
      kernels.add_columns(row.data() + border, static_cast<std::int64_t>(step), weights,
                          static_cast<std::int64_t>(count), found.data());
      if (&kernels == &blur_kernels().front()) plain = found;
      ASSERT_EQ(found, plain) << kernels.name << ", " << count << " samples";
    }
    EXPECT_EQ(plain.back(), 77);
    for (std::size_t i = 0; i < count; ++i) {
      const float* const at = row.data() + border + i;
      const auto sample = [&](std::ptrdiff_t k) {
        return double{1} * at[k * static_cast<std::ptrdiff_t>(step)];
      };
      ASSERT_NEAR(plain[i], exact_sum(sample, weights), 0.501);
    }
  }
}

}  // namespace
}  // namespace brigade
