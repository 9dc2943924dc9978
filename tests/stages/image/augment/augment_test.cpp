// What `augment` promises beside the operations themselves, which python/tests/augment_test.py
// compares with torchvision's.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <brigade/harness.h>
#include "stages/basic/half_float.h"
#include "stages/image/image_stages.h"
#include "tests/support/images/place_matrix.h"
#include "tests/support/message_of.h"
#include "tests/support/only_type.h"

namespace brigade {
namespace {

using namespace testing_support;
using testing::HasSubstr;

Result<std::unique_ptr<StageHarness>> open_with(const std::string& operations,
                                                std::vector<Dim> shape, int pixels_max = 1 << 26) {
  return StageHarness::open(
      only_type<add_augment>(),
      {.params = {{"operations", operations}, {"pixels_max", concat(pixels_max)}},
       .inputs = {{"image", u8, std::move(shape)}}});
}

HostTensor grey(std::int64_t height, std::int64_t width) {
  return host_tensor("image", {height, width, 1},
                     std::vector<std::uint8_t>(static_cast<std::size_t>(height * width), 9));
}

std::string image_type_of(const std::string& operations) {
  auto stage = open_with(operations, {up_to(60), up_to(80), 3});
  return stage ? (*stage)->outputs().find("image")->text() : stage.error().message;
}

TEST(AugmentTest, PicturesOfSeveralSizesGetOneOrKeepTheirs) {
  EXPECT_EQ(image_type_of("[{resize: {size: [32]}}, {center_crop: {size: 28}}]"),
            "image u8[28, 28, 3]");
  EXPECT_EQ(image_type_of("[random_invert]"), "image u8[<=60, <=80, 3]");
  EXPECT_THAT(image_type_of("[random_invert, {resize: {size: [32]}}]"),
              HasSubstr("operation 2, resize: pictures of several sizes"));
  EXPECT_THAT(image_type_of("[{resize: {size: [60]}}]"), HasSubstr("pictures of several sizes"));
  EXPECT_THAT(image_type_of("[{pad: {padding: [1]}}]"), HasSubstr("pictures of several sizes"));
  // Larger than the largest picture: none would fit. Behind a resize that depends on the picture
  // nobody knows.
  EXPECT_THAT(image_type_of("[{random_crop: {size: 90}}]"), HasSubstr("does not fit into 60 x 80"));
  EXPECT_THAT(image_type_of("[{gaussian_blur: {kernel_size: 201}}]"),
              HasSubstr("needs pictures of at least 101 x 101 pixels"));
  EXPECT_EQ(image_type_of("[{resize: {size: [300]}}, {random_crop: {size: 256}}]"),
            "image u8[256, 256, 3]");
  EXPECT_EQ(image_type_of("[{pad: {padding: [30]}}, {random_crop: {size: 90}}]"),
            "image u8[90, 90, 3]");
}

TEST(AugmentTest, PicturesGrowOnTheWayToTheirSize) {
  auto stage =
      open_with("[{resize: {size: [300]}}, {random_crop: {size: 256}}]", {up_to(60), up_to(80), 1})
          .value();
  for (const std::int64_t width : {20, 30, 80})
    EXPECT_EQ(stage->process({grey(20, width)}).value()["image"].shape, (Shape{256, 256, 1}));
}

TEST(AugmentTest, APictureThatIsTooSmallIsAnErrorOfItsSample) {
  auto stage = open_with("[{random_crop: {size: 8}}]", {up_to(60), up_to(80), 1}).value();
  EXPECT_TRUE(stage->process({grey(9, 8)}));
  const auto small = stage->process({grey(9, 7)});
  ASSERT_FALSE(small);
  EXPECT_THAT(
      small.error().message,
      HasSubstr("operation 1, random_crop: a crop of 8 x 8 does not fit into 9 x 7 pixels"));
  const auto empty = stage->process({grey(0, 7)});
  ASSERT_FALSE(empty);
  EXPECT_THAT(empty.error().message, HasSubstr("the picture is empty: [0, 7, 1]"));
  EXPECT_TRUE(open_with("[]", {8, 8, 4}));
  EXPECT_THAT(
      message_of(open_with("[]", {8, 8, up_to(4)})),
      HasSubstr("expected pictures that all have as many channels, found image u8[8, 8, <=4]"
                "; decode_image gives them with a number such as `channels: 8`"));
  EXPECT_THAT(message_of(open_with("[{color_jitter: {hue: 0.1}}]", {8, 8, 4})),
              HasSubstr("operation 1, color_jitter: it changes colors of gray or RGB pictures"));
  EXPECT_FALSE(open_with("[{random_erasing: {value: [1, 2, 3]}}]", {8, 8, 1}));
}

TEST(AugmentTest, PixelsMaxCountsWhatComesAndWhatIsOnItsWay) {
  const auto refused = [](const std::string& operations, std::int64_t side) {
    const auto stage = open_with(operations, {side, 10, 3}, 200);
    return stage ? "fits" : stage.error().message;
  };
  EXPECT_EQ(refused("[]", 20), "fits");
  EXPECT_EQ(refused("[]", 21), "a picture of 21 x 10 pixels; pixels_max is 200");
  EXPECT_TRUE(open_with("[]", {10, 10, 6}, 200));
  EXPECT_THAT(message_of(open_with("[]", {11, 10, 6}, 200)),
              HasSubstr("a picture of 11 x 10 pixels and 6 channels; pixels_max is 200, for three "
                        "channels"));
  EXPECT_EQ(refused("[{resize: {size: [20, 10]}}]", 9), "fits");
  EXPECT_EQ(refused("[{resize: {size: [20, 11]}}, {center_crop: {size: 3}}]", 9),
            "operation 1, resize: a picture of 20 x 11 pixels; pixels_max is 200");
  auto stage = open_with("[{resize: {size: [20]}}, {center_crop: {size: 3}}]",
                         {up_to(60), up_to(80), 1}, 500)
                   .value();
  EXPECT_TRUE(stage->process({grey(25, 20)}));
  EXPECT_THAT(message_of(stage->process({grey(26, 20)})),
              HasSubstr("a picture of 26 x 20 pixels; pixels_max is 500"));
  EXPECT_THAT(message_of(stage->process({grey(13, 10)})),
              HasSubstr("operation 1, resize: a picture of 26 x 20 pixels"));
}

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

TEST(AugmentTest, FiveCropsAreBoundedTogether) {
  EXPECT_TRUE(open_with("[{five_crop: {size: [16384, 819]}}]", {16384, 1000, 1}));
  const auto large = open_with("[{five_crop: {size: [16384, 820]}}]", {16384, 1000, 1});
  ASSERT_FALSE(large);
  EXPECT_THAT(large.error().message, HasSubstr("the five crops would have 67174400 pixels; all of "
                                               "them have 67108864 at most"));
}

TEST(AugmentTest, APictureThatKeepsItsSizeIsRagged) {
  auto stage = open_with("[random_invert, random_invert]", {up_to(60), up_to(80), 1}).value();
  const auto call = stage->process({grey(5, 6)}).value();
  EXPECT_EQ(call["image"].shape, (Shape{5, 6, 1}));
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

TEST(AugmentTest, AGeometryNeedsOnePictureOfASample) {
  const Ports in = {{"image", u8, {20, 20, 1}}};
  EXPECT_EQ(open_geometry("[]", in, {}).value()->outputs().find("geometry"), nullptr);
  EXPECT_THAT(open_geometry("[{five_crop: {size: 8}}]", in).error().message,
              HasSubstr("geometry cannot follow five_crop"));
  EXPECT_THAT(
      open_geometry("[]", {in.tensors[0], {"geometry", f32, {4}}}).error().message,
      HasSubstr(
          "goes on with that of the stage before, geometry f32[3, 3], found geometry f32[4]"));
}

}  // namespace
}  // namespace brigade
