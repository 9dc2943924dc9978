// What `augment` promises beside the operations themselves, which python/tests/augment_test.py
// compares with torchvision's.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <brigade/harness.h>
#include "stages/api/other_names.h"
#include "stages/image/augment/operations.h"
#include "stages/image/image_stages.h"
#include "tests/support/data_limit.h"
#include "tests/support/message_of.h"
#include "tests/support/only_type.h"
#include "tests/support/place_matrix.h"

namespace brigade {
namespace {

using namespace testing_support;
using testing::HasSubstr;

std::vector<std::unique_ptr<Operation>> made(const std::string& list) {
  Operations operations;
  EXPECT_TRUE(parse_param(param_value(list), operations)) << list;
  EXPECT_EQ(print_param(operations), param_value(list));
  return make_operations(operations);
}

/// Something for each parameter that has no default, and certainty.
std::string with_its_params(const OperationType& type) {
  std::vector<std::string> texts;
  for (const ParamSpec& spec : type.params) {
    if (spec.name == "p") texts.emplace_back("p: 1");
    if (!spec.required) continue;
    const bool list = type.name == "pad" || type.name == "resize";
    texts.push_back(concat(spec.name, list ? ": [3]" : ": 3"));
  }
  return texts.empty() ? type.name : concat("{", type.name, ": {", join(texts, ", "), "}}");
}

/// Runs every operation twice over pictures of this size, with results in `slot` where they fit.
void run_all(PictureSize size, std::int64_t channels, std::vector<std::uint8_t> slot) {
  std::vector<std::uint8_t> picture(static_cast<std::size_t>(size.pixels() * channels));
  for (std::size_t i = 0; i < picture.size(); ++i) picture[i] = static_cast<std::uint8_t>(7 * i);
  const std::vector<std::uint8_t> before = picture;
  for (const OperationType& type : operation_types()) {
    const std::string one = with_its_params(type);
    Canvas canvas;
    canvas.begin(picture.data(), size, channels, slot.empty() ? nullptr : slot.data(), slot.size());
    Philox random(1, 2, 3, 4);
    for (const auto& operation : made(concat("[", one, ", ", one, "]"))) {
      const auto expected = operation->size_of(canvas.size());
      if (!expected) continue;
      operation->run(canvas, random);
      EXPECT_EQ(canvas.size(), *expected) << type.name;
    }
    EXPECT_EQ(picture, before) << type.name;
  }
}

TEST(OperationsTest, ReadPicturesOfAnySizeAndNeverWriteThem) {
  for (const std::int64_t channels : {kGreyChannels, kRgbChannels})
    for (const PictureSize size : {PictureSize{20, 17}, PictureSize{1, 1}, PictureSize{1, 9},
                                   PictureSize{9, 1}, PictureSize{2, 2}, PictureSize{3, 5}})
      for (const std::size_t room : {0, 7, 20 * 17 * 3})
        run_all(size, channels, std::vector<std::uint8_t>(room));
}

TEST(OperationsTest, NamesOfOtherLibrariesAreToldWhatToWrite) {
  const auto said = [](const std::string& name) {
    Operations operations;
    return message_of(parse_param(param_value("[" + name + "]"), operations));
  };
  EXPECT_EQ(said("HorizontalFlip"),
            "item 1: there is no operation \"HorizontalFlip\"; write random_horizontal_flip");
  EXPECT_THAT(said("Normalize"), HasSubstr("; write `dtype`, `layout`, `mean` and `std`"));
  EXPECT_THAT(said("random_invrt"), HasSubstr("did you mean random_invert?"));
  for (const OperationType& type : operation_types()) {
    const auto here = operation_elsewhere(type.name);
    EXPECT_TRUE(!here || *here == type.name) << type.name;
  }
}

TEST(OperationsTest, RangesThatTorchvisionWouldRefuseAreRefused) {
  const std::pair<const char*, const char*> cases[] = {
      {"{color_jitter: {hue: 0.7}}", "hue: expected a number from -0.5 to 0.5"},
      {"{color_jitter: {hue: [0.3, -0.3]}}", "hue: expected a number, or a lower and an upper"},
      {"{color_jitter: {brightness: [1.4, 0.6]}}", "brightness: expected a number, or a lower"},
      {"{color_jitter: {contrast: -1}}", "contrast: expected a number from 0 to 1000"},
      {"{color_jitter: {saturation: nan}}", "saturation: expected a number, found \"nan\""},
      {"{random_resized_crop: {size: 8, scale: [1, 0.5]}}", "a lower and an upper limit"},
      {"{random_resized_crop: {size: 8, ratio: [2, 0.5]}}", "a lower and an upper limit"},
      {"{random_resized_crop: {size: 0}}", "size: expected pixels of a square"},
      {"{random_erasing: {scale: [0.5, 0.1]}}", "a lower and an upper limit"},
      {"{random_erasing: {value: [300]}}", "expected a whole number from 0 to 255"},
      {"{gaussian_blur: {kernel_size: 3, sigma: [2, 1]}}", "sigma: expected a number, or a lower"},
      {"{gaussian_blur: {kernel_size: 3, sigma: 0}}", "sigma is above 0"},
      {"{random_posterize: {bits: 9}}", "bits: expected a whole number from 0 to 8"},
      {"{random_rotation: {degrees: -5}}", "degrees: one number is how far"},
      {"{random_rotation: {degrees: [30, 10]}}", "degrees: expected a number, or a lower"},
      {"{random_affine: {degrees: 0, translate: [0.1]}}", "translate is the largest share"},
      {"{random_affine: {degrees: 0, translate: [0.1, 1.5]}}", "expected a number from 0 to 1"},
      {"{random_affine: {degrees: 0, scale: [2, 1]}}", "scale is a lower and an upper limit"},
      {"{random_perspective: {distortion_scale: 1.5}}", "expected a number from 0 to 1"},
      {"{random_solarize: {threshold: 300}}", "threshold: expected a number from 0 to 255"},
      {"{random_adjust_sharpness: {sharpness_factor: -1}}", "expected a number from 0 to 1000"},
      {"{rand_augment: {magnitude: 40}}", "magnitude is below num_magnitude_bins"},
      {"{rand_augment: {num_ops: -1}}", "num_ops: expected a whole number from 0 to 100"},
      {"{random_horizontal_flip: {p: 2}}", "p: expected a number from 0 to 1"},
      {"{pad: {padding: [-1]}}", "padding: item 1: expected a whole number from 0 to 16384"},
      {"{pad: {padding: [1, 2, 3]}}", "padding is [all]"},
      {"{trivial_augment_wide: {num_magnitude_bins: 0}}", "expected a whole number from 2"}};
  for (const auto& [operation, said] : cases) {
    Operations operations;
    const auto read = parse_param(param_value(concat("[", operation, "]")), operations);
    EXPECT_THAT(read ? "nothing" : read.error().message, HasSubstr(said)) << operation;
  }
}

TEST(OperationsTest, WhatFixesTheSizeDoesSoForEveryPicture) {
  const auto operations = made(
      "[{center_crop: {size: 9}}, {resize: {size: [4, 5]}}, {resize: {size: [4]}}, "
      "random_vertical_flip]");
  EXPECT_EQ(operations[0]->fixed_size(), (PictureSize{9, 9}));
  EXPECT_EQ(operations[1]->fixed_size(), (PictureSize{4, 5}));
  EXPECT_FALSE(operations[2]->fixed_size() || operations[2]->keeps_size());
  EXPECT_TRUE(!operations[3]->fixed_size() && operations[3]->keeps_size());
  EXPECT_EQ(operations[2]->size_of({10, 25}).value(), (PictureSize{4, 10}));
  EXPECT_EQ(operations[2]->size_of({25, 10}).value(), (PictureSize{10, 4}));
  const auto long_one = operations[2]->size_of({1, 16384});
  ASSERT_FALSE(long_one);
  EXPECT_THAT(long_one.error().message, HasSubstr("a side has 16384 at most"));
}

/// Runs each operation by itself, and resizes one after another, over small pictures and then
/// larger ones.
void run_growing(std::int64_t channels, const std::vector<std::uint8_t>& picture) {
  std::vector<std::string> lists{"[{resize: {size: [700, 1400]}}, {resize: {size: [1400, 1400]}}]",
                                 "[random_invert, {random_resized_crop: {size: 1400}}, "
                                 "{random_rotation: {degrees: 9}}, random_equalize]"};
  for (const OperationType& type : operation_types())
    lists.push_back(concat("[", with_its_params(type), "]"));
  for (const std::string& list : lists) {
    const auto operations = made(list);
    Canvas canvas;
    for (const std::int64_t side : {500, 900, 1400}) {
      canvas.begin(picture.data(), {side, side}, channels, nullptr, 0);
      Philox random(1, 2, 3, 4);
      for (const auto& operation : operations) operation->run(canvas, random);
    }
  }
}

TEST(OperationsTest, TakeNoMoreMemoryThanThePlanSays) {
  if (kMemorySanitized) GTEST_SKIP() << "sanitizers have terabytes mapped";
  constexpr std::int64_t kPixels = 1400 * 1400;
  const auto contract = only_type<add_augment>().contract;
  const auto params = make_params(contract, {{"pixels_max", concat(kPixels)}}).value();
  const std::uint64_t most = contract.private_bytes(params.get());
  const std::vector<std::uint8_t> picture(kPixels * kRgbChannels, 7);
  const auto within = [&](std::uint64_t bytes) {
    allow_private(bytes);
    try {
      for (const std::int64_t channels : {kGreyChannels, kRgbChannels})
        run_growing(channels, picture);
    } catch (const std::bad_alloc&) {
      std::exit(1);
    }
    std::exit(0);
  };
  EXPECT_EXIT(within(most), testing::ExitedWithCode(0), "");
  EXPECT_EXIT(within(most / 8), testing::ExitedWithCode(1), "") << "the limit is none";
}

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
  EXPECT_FALSE(open_with("[]", {8, 8, 4}));
  EXPECT_FALSE(open_with("[{random_erasing: {value: [1, 2, 3]}}]", {8, 8, 1}));
}

TEST(AugmentTest, PixelsMaxCountsWhatComesAndWhatIsOnItsWay) {
  const auto refused = [](const std::string& operations, std::int64_t side) {
    const auto stage = open_with(operations, {side, 10, 3}, 200);
    return stage ? "fits" : stage.error().message;
  };
  EXPECT_EQ(refused("[]", 20), "fits");
  EXPECT_EQ(refused("[]", 21), "a picture of 21 x 10 pixels; pixels_max is 200");
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
