// What `augment` promises beside the operations themselves, which python/tests/augment_test.py
// compares with torchvision's.

#include <gtest/gtest.h>

#include <brigade/harness.h>
#include "stages/basic/half_float.h"
#include "stages/image/image_stages.h"
#include "tests/support/images/place_matrix.h"
#include "tests/support/only_type.h"

namespace brigade {
namespace {

using namespace testing_support;

TEST(AugmentTest, EachOfAnyNumberOfChannelsIsNormalizedByItsNumbers) {
  for (const std::string layout : {"HWC", "CHW"})
    for (const std::string dtype : {"u8", "f32", "f16"}) {
      ParamTexts params{{"layout", layout}, {"dtype", dtype}};
      if (dtype != "u8") {
        params.emplace_back("mean", "[0, 0.2, 0.4, 0.6, 0.8]");
        params.emplace_back("std", "[1, 0.5, 0.25, 0.125, 0.0625]");
      }
      auto stage = StageHarness::open(only_type<add_augment>(),
                                      {.params = params, .inputs = {{"image", u8, {2, 3, 5}}}})
                       .value();
      std::vector<std::uint8_t> levels(30);
      for (std::size_t i = 0; i < levels.size(); ++i) levels[i] = static_cast<std::uint8_t>(8 * i);
      const HarnessCall call = stage->process({host_tensor("image", {2, 3, 5}, levels)}).value();
      const HostTensor& found = call["image"];
      EXPECT_EQ(found.shape, layout == "HWC" ? (Shape{2, 3, 5}) : (Shape{5, 2, 3}));
      for (std::size_t i = 0; i < levels.size(); ++i) {
        const std::size_t at = layout == "HWC" ? i : i % 5 * 6 + i / 5;
        const auto c = static_cast<float>(i % 5);
        const float expected =
            (static_cast<float>(levels[i]) / 255 - 0.2F * c) * static_cast<float>(1 << i % 5);
        if (dtype == "u8")
          EXPECT_EQ(found.as<std::uint8_t>()[at], levels[i]);
        else if (dtype == "f32")
          EXPECT_NEAR(found.as<float>()[at], expected, 1e-5);
        else
          EXPECT_NEAR(to_float(found.as<Half>()[at]), expected, 1e-2);
      }
    }
}

constexpr std::int64_t kHeight = 40;
constexpr std::int64_t kWidth = 52;

Result<std::unique_ptr<StageHarness>> open_geometry(const std::string& operations, Ports inputs,
                                                    ParamTexts more = {{"geometry", "true"}}) {
  more.emplace_back("operations", operations);
  return StageHarness::open(only_type<add_augment>(),
                            {.params = more, .inputs = std::move(inputs)});
}
SlopesFound slopes_of(const HarnessCall& call) {
  const HostTensor& image = call["image"];
  return compare_slopes(image.as<std::uint8_t>(), image.shape[0], image.shape[1],
                        call["geometry"].as<float>(), kHeight, kWidth, 4);
}

TEST(AugmentTest, TheGeometrySaysWhereEachPixelCameFrom) {
  const Ports in = {{"image", u8, {kHeight, kWidth, 3}}};
  const HostTensor picture = host_tensor("image", {kHeight, kWidth, 3}, slopes(kHeight, kWidth));
  for (const char* operations :
       {"[]", "[{pad: {padding: [3, 5]}}, random_horizontal_flip]",
        "[{random_resized_crop: {size: 32, scale: [0.3, 1]}}, {random_vertical_flip: {p: 1}}]",
        "[{resize: {size: [60]}}, {random_crop: {size: 48}}, {center_crop: {size: [30, 40]}}]",
        "[{random_affine: {degrees: 30, translate: [0.1, 0.2], scale: [0.9, 1.1], shear: 10, "
        "interpolation: bilinear}}]",
        "[{random_perspective: {p: 1, interpolation: bilinear}}, {random_rotation: {degrees: 20, "
        "interpolation: bilinear}}, {random_crop: {size: 30}}]"}) {
    auto stage = open_geometry(operations, in).value();
    EXPECT_EQ(stage->outputs().find("geometry")->text(), "geometry f32[3, 3]");
    int pixels = 0;
    for (std::uint64_t id = 0; id < 8; ++id) {
      const SlopesFound found = slopes_of(stage->process({picture}, {.id = id}).value());
      EXPECT_LT(found.farthest, 1) << operations << id;
      pixels += found.pixels;
    }
    EXPECT_GT(pixels, 400) << operations;
  }
}

TEST(AugmentTest, TheGeometryOfStagesIsThatOfAllOfThem) {
  const HostTensor picture = host_tensor("image", {kHeight, kWidth, 3}, slopes(kHeight, kWidth));
  auto first = open_geometry("[{random_resized_crop: {size: 40, scale: [0.4, 1]}}]",
                             {{"image", u8, {kHeight, kWidth, 3}}})
                   .value();
  // Asked for or not: that of the first alone would be wrong behind the second.
  auto second = open_geometry("[{random_horizontal_flip: {p: 1}}, {random_crop: {size: 30}}]",
                              {{"image", u8, {40, 40, 3}}, {"geometry", f32, {3, 3}}}, ParamTexts())
                    .value();
  for (std::uint64_t id = 0; id < 8; ++id) {
    const HarnessCall cut = first->process({picture}, {.id = id}).value();
    const HarnessCall both = second->process({cut["image"], cut["geometry"]}, {.id = id}).value();
    EXPECT_LT(slopes_of(both).farthest, 1) << id;
    EXPECT_GT(slopes_of(both).pixels, 100) << id;
    EXPECT_NE(both["geometry"], cut["geometry"]);
  }
}

}  // namespace
}  // namespace brigade
