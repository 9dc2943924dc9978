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

TEST(OperationsTest, ReadTheirInputAndNeverWriteIt) {
  std::vector<std::uint8_t> picture(20 * 17 * 3);
  for (std::size_t i = 0; i < picture.size(); ++i) picture[i] = static_cast<std::uint8_t>(7 * i);
  const std::vector<std::uint8_t> before = picture;
  std::vector<std::uint8_t> slot(picture.size());
  for (const OperationType& type : operation_types()) {
    const std::string one = with_its_params(type);
    const auto operations = made(concat("[", one, ", ", one, "]"));
    for (const std::size_t room : {std::size_t{0}, slot.size()}) {
      Canvas canvas;
      canvas.begin(picture.data(), {20, 17}, 3, room == 0 ? nullptr : slot.data(), room);
      Philox random(1, 2, 3, 4);
      for (const auto& operation : operations) {
        const PictureSize size = operation->size_of(canvas.size()).value();
        operation->run(canvas, random);
        EXPECT_EQ(canvas.size(), size) << type.name;
      }
      EXPECT_EQ(picture, before) << type.name;
    }
  }
}

TEST(OperationsTest, WhatFixesTheSizeDoesSoForEveryPicture) {
  const auto operations = made(
      "[{center_crop: {size: 9}}, {resize: {size: [4, 5]}}, {resize: {size: [4]}}, "
      "random_vertical_flip]");
  EXPECT_TRUE(operations[0]->fixes_size());
  EXPECT_TRUE(operations[1]->fixes_size());
  EXPECT_FALSE(operations[2]->fixes_size());
  EXPECT_FALSE(operations[3]->fixes_size());
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
}

HostTensor grey(std::int64_t height, std::int64_t width) {
  return host_tensor("image", {height, width, 1},
                     std::vector<std::uint8_t>(static_cast<std::size_t>(height * width), 9));
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
}

TEST(AugmentTest, APictureThatKeepsItsSizeIsRagged) {
  auto stage = open_with("[random_invert, random_invert]", {up_to(60), up_to(80), 1}).value();
  const auto call = stage->process({grey(5, 6)}).value();
  EXPECT_EQ(call["image"].shape, (Shape{5, 6, 1}));
}

}  // namespace
}  // namespace brigade
