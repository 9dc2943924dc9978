#include "stages/image/geometry/crop.h"

#include <gtest/gtest.h>

#include <cmath>
#include <span>
#include <utility>

namespace brigade {
namespace {

using Params = DecodeImageParams;

Philox random_of(std::uint64_t id) { return Philox(7, stream_id("decode"), 0, id); }

/// get_params() of torchvision/transforms/transforms.py for the default scale and ratio, and then
/// whether to flip.
Cut torchvision_cut(std::int64_t height, std::int64_t width, double flip, Philox random) {
  const auto nearest = [](double side) { return static_cast<std::int64_t>(std::nearbyint(side)); };
  const auto below = [&](std::int64_t n) {
    return static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(n)));
  };
  const double low = 0.75, high = 4.0 / 3;
  Cut cut;
  for (int i = 0; i < 10; ++i) {
    const double area = static_cast<double>(height * width) * random.uniform(0.08, 1);
    const double ratio = std::exp(random.uniform(std::log(low), std::log(high)));
    const std::int64_t w = nearest(std::sqrt(area * ratio)), h = nearest(std::sqrt(area / ratio));
    if (w == 0 || w > width || h == 0 || h > height) continue;
    cut.rows = {.begin = below(height - h + 1), .size = h};
    cut.columns = {.begin = below(width - w + 1), .size = w};
    cut.flip = random.chance(flip);
    return cut;
  }
  const double ratio = static_cast<double>(width) / static_cast<double>(height);
  const std::int64_t h = ratio < low ? nearest(static_cast<double>(width) / low) : height;
  const std::int64_t w = ratio > high ? nearest(static_cast<double>(height) * high) : width;
  cut.rows = {.begin = (height - h) / 2, .size = h};
  cut.columns = {.begin = (width - w) / 2, .size = w};
  cut.flip = random.chance(flip);
  return cut;
}

/// A whole picture's, its largest centred cut's, and strips in which most tries do not fit.
TEST(CropTest, IsTorchvisionsCutOfTheSameDraws) {
  Params params;
  params.flip = 0.5;
  int largest = 0;
  for (const auto& [height, width] :
       {std::pair{375, 500}, std::pair{500, 333}, std::pair{100, 600}, std::pair{600, 100}})
    for (std::uint64_t id = 0; id < 2000; ++id) {
      const Cut cut = choose_cut(params, height, width, random_of(id));
      const Cut theirs = torchvision_cut(height, width, params.flip, random_of(id));
      ASSERT_EQ(cut.rows.begin, theirs.rows.begin) << height << " x " << width << ", " << id;
      ASSERT_EQ(cut.rows.size, theirs.rows.size);
      ASSERT_EQ(cut.columns.begin, theirs.columns.begin);
      ASSERT_EQ(cut.columns.size, theirs.columns.size);
      ASSERT_EQ(cut.flip, theirs.flip);
      ASSERT_TRUE(cut.rows.resized == 224 && cut.columns.count == 224);
      largest += theirs.rows.size * theirs.columns.size == 100 * 133 ? 1 : 0;
    }
  EXPECT_GT(largest, 200) << "no try fits";
}

TEST(CropTest, TheFallbackIsTheLargestCentredCut) {
  Params params;
  params.scale = {1, 1};  // never fits into a strip
  const Cut wide = choose_cut(params, 100, 1000, random_of(0));
  EXPECT_EQ(wide.rows.size, 100);
  EXPECT_EQ(wide.columns.size, 133);
  EXPECT_EQ(wide.columns.begin, (1000 - 133) / 2);
  const Cut high = choose_cut(params, 1000, 100, random_of(0));
  EXPECT_EQ(high.columns.size, 100);
  EXPECT_EQ(high.rows.size, 133);
  const Cut dot = choose_cut(params, 1, 1, random_of(0));
  EXPECT_EQ(dot.rows.size, 1);
  EXPECT_EQ(dot.columns.size, 1);
}

TEST(CropTest, FlipsAlwaysOrNeverWhereItIsAsked) {
  Params params;
  params.crop = Params::Crop::center;
  for (std::uint64_t id = 0; id < 20; ++id) {
    params.flip = static_cast<double>(id % 2);
    EXPECT_EQ(choose_cut(params, 300, 300, random_of(id)).flip, id % 2 == 1);
  }
}

TEST(CropTest, WithoutACutTheWholePictureRemains) {
  Params params;
  params.crop = Params::Crop::none;
  params.size = 0;
  const Cut plain = choose_cut(params, 30, 70, random_of(0));
  EXPECT_EQ(plain.rows.out, 30);
  EXPECT_EQ(plain.columns.out, 70);
  params.resize = 60;
  EXPECT_EQ(choose_cut(params, 30, 70, random_of(0)).columns.out, 140);
  params.resize = 0;
  params.size = 8;
  const Cut square = choose_cut(params, 30, 70, random_of(0));
  EXPECT_EQ(square.columns.size, 70);
  EXPECT_EQ(square.columns.out, 8);
  EXPECT_EQ(square.rows.out, 8);
}

TEST(CropTest, MovesAreTheMatrixInSteps) {
  Params params;
  params.flip = 0.5;
  for (const auto crop : {Params::Crop::random_resized, Params::Crop::center})
    for (std::uint64_t id = 0; id < 20; ++id) {
      params.crop = crop;
      params.size = crop == Params::Crop::center ? 350 : 64;  // a border above and below
      const Cut cut = choose_cut(params, 300, 400, random_of(id));
      const auto moves = moves_of(cut, {300, 400});
      const PlaceMatrix whole = matrix_of(cut);
      const PlaceMatrix steps = matrix_of(std::span<const PictureMove>(moves));
      for (std::size_t i = 0; i < whole.size(); ++i) EXPECT_NEAR(steps[i], whole[i], 1e-9) << i;
      EXPECT_EQ(moves.front().from, (PictureSize{300, 400}));
      EXPECT_EQ(moves.back().to, (PictureSize{params.size, params.size}));
    }
}

}  // namespace
}  // namespace brigade
