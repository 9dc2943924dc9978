// What `augment` promises beside the operations themselves, which python/tests/augment_test.py
// compares with torchvision's.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <brigade/harness.h>
#include "stages/image/augment/operations.h"
#include "stages/image/image_stages.h"

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

const StageType& augment_type() {
  static const StageTypes types = [] {
    StageTypes all;
    add_augment(all);
    return all;
  }();
  return types.all()[0];
}

Result<std::unique_ptr<StageHarness>> open_with(const std::string& operations,
                                                std::vector<Dim> shape) {
  return StageHarness::open(augment_type(), {.params = {{"operations", operations}},
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

}  // namespace
}  // namespace brigade
