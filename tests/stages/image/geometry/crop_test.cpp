#include "stages/image/geometry/crop.h"

#include <gtest/gtest.h>

#include <cmath>
#include <span>

namespace brigade {
namespace {

using Params = DecodeImageParams;

Philox random_of(std::uint64_t id) { return Philox(7, stream_id("decode"), 0, id); }

TEST(CropTest, DrawsInThePromisedOrder) {
  Params params;
  params.flip = 0.5;
  Philox random = random_of(3);
  // A square of scale 0.08 to 1 may fail to fit: find what the definition says for this sample.
  std::int64_t h = 0, w = 0;
  do {
    const double area = 300.0 * 400 * random.uniform(0.08, 1);
    const double ratio = std::exp(random.uniform(std::log(0.75), std::log(4.0 / 3)));
    w = static_cast<std::int64_t>(std::nearbyint(std::sqrt(area * ratio)));
    h = static_cast<std::int64_t>(std::nearbyint(std::sqrt(area / ratio)));
  } while (h > 300 || w > 400);
  const auto y = static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(300 - h + 1)));
  const auto x = static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(400 - w + 1)));
  const Cut cut = choose_cut(params, 300, 400, random_of(3));
  EXPECT_EQ(cut.rows.begin, y);
  EXPECT_EQ(cut.rows.size, h);
  EXPECT_EQ(cut.columns.begin, x);
  EXPECT_EQ(cut.columns.size, w);
  EXPECT_EQ(cut.flip, random.chance(0.5));
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

TEST(CropTest, FlipsAsOftenAsAsked) {
  Params params;
  params.crop = Params::Crop::center;
  params.flip = 0.3;
  int flips = 0;
  for (std::uint64_t id = 0; id < 10'000; ++id)
    flips += choose_cut(params, 300, 300, random_of(id)).flip;
  EXPECT_NEAR(flips, 3000, 200);
  params.flip = 1;
  EXPECT_TRUE(choose_cut(params, 300, 300, random_of(1)).flip);
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
