#include "stages/image/geometry/resample_kernels.h"

#include <gtest/gtest.h>

#include "stages/image/geometry/resample.h"
#include "tests/support/images/test_images.h"

namespace brigade {
namespace {

using namespace testing_support;

std::int64_t draw(Philox& random, std::int64_t n) {
  return static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(n)));
}

/// Weights that add up to one, with zeros and a weight of one among them.
std::vector<std::int16_t> draw_weights(Philox& random, std::int64_t taps) {
  std::vector<std::int16_t> weights(static_cast<std::size_t>(taps));
  std::int64_t left = 1 << AxisWeights::kBits;
  for (std::int16_t& weight : weights) {
    weight = static_cast<std::int16_t>(&weight == &weights.back() ? left : draw(random, left + 1));
    left -= weight;
  }
  return weights;
}

TEST(ResampleKernelsTest, ThePlainOnesComeFirstAndRunEverywhere) {
  ASSERT_FALSE(resample_kernels().empty());
  EXPECT_STREQ(resample_kernels().front().name, "plain");
}

TEST(ResampleKernelsTest, RowsAddUpToTheSameWhateverTheInstructions) {
  Philox random(1, 2, 3, 4);
  for (int round = 0; round < 400; ++round) {
    const std::int64_t taps = 1 + draw(random, round % 4 == 0 ? 40 : 8);
    const std::int64_t bytes = 1 + draw(random, 400);
    std::vector<std::vector<std::uint8_t>> rows;
    std::vector<const std::uint8_t*> pointers;
    for (std::int64_t tap = 0; tap < taps; ++tap) {
      std::vector<std::uint8_t> row(static_cast<std::size_t>(bytes));
      for (std::uint8_t& sample : row) sample = static_cast<std::uint8_t>(random.next());
      rows.push_back(std::move(row));
    }
    for (const auto& row : rows) pointers.push_back(row.data());
    const auto weights = draw_weights(random, taps);
    std::vector<std::int16_t> plain(static_cast<std::size_t>(bytes));
    resample_kernels()[0].add_rows(pointers.data(), weights.data(), taps, bytes, plain.data());
    for (std::size_t i = 0; i < plain.size(); ++i) {
      double exact = 0;
      for (std::size_t tap = 0; tap < rows.size(); ++tap) exact += weights[tap] * rows[tap][i];
      ASSERT_NEAR(plain[i], exact / 128, 8.5) << taps << " taps";  // of 128 a level
    }
    for (const ResampleKernels& kernels : resample_kernels()) {
      std::vector<std::int16_t> found(plain.size());
      kernels.add_rows(pointers.data(), weights.data(), taps, bytes, found.data());
      ASSERT_EQ(found, plain) << kernels.name << ", " << taps << " taps, " << bytes << " bytes";
    }
  }
}

TEST(ResampleKernelsTest, PicturesAreTheSameWhateverTheInstructions) {
  Philox random(5, 6, 7, 8);
  const Picture in = photograph(150, 190);
  for (int round = 0; round < 300; ++round) {
    const std::int64_t height = 1 + draw(random, 60), width = 1 + draw(random, 60);
    const std::int64_t in_height = 1 + draw(random, 150), in_width = 1 + draw(random, 190);
    AxisWeights rows, columns;
    rows.prepare({in_height, height, 0, height}, round % 2 == 0);
    columns.prepare({in_width, width, 0, width}, round % 2 == 0);
    const Picture part = part_of(in, rows.first_needed(), columns.first_needed(),
                                 rows.end_needed() - rows.first_needed(),
                                 columns.end_needed() - columns.first_needed());
    if (round % 3 == 0) columns.mirror();
    // A frame around the result shows what is written outside it.
    const std::int64_t stride = width * 3 + 8;
    const std::vector<std::uint8_t> frame(static_cast<std::size_t>(stride * (height + 1)), 77);
    std::vector<std::uint8_t> plain;
    for (const ResampleKernels& kernels : resample_kernels()) {
      std::vector<std::uint8_t> found = frame;
      Resampler(kernels).run(part.pixels(), rows, columns, found.data() + 4, stride);
      if (plain.empty()) plain = found;
      ASSERT_EQ(found, plain) << kernels.name << ": " << in_height << " x " << in_width << " to "
                              << height << " x " << width;
    }
    for (std::int64_t y = 0; y <= height; ++y)
      for (std::int64_t x = y < height ? width * 3 + 4 : 0; x < stride; ++x)
        ASSERT_EQ(plain[static_cast<std::size_t>(y * stride + x)], 77);
  }
}

}  // namespace
}  // namespace brigade
