// The operations of `augment` by themselves: any size, any number of channels, and how much memory.

#include "stages/image/augment/operations.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <brigade/harness.h>
#include <brigade/text.h>
#include "stages/api/other_names.h"
#include "stages/image/image_stages.h"
#include "tests/support/data_limit.h"
#include "tests/support/only_type.h"

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
    if (!made(concat("[", one, "]"))[0]->accepts(channels)) continue;
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
  for (const std::int64_t channels : {1, 2, 3, 5, 32})
    for (const PictureSize size : {PictureSize{20, 17}, PictureSize{1, 1}, PictureSize{1, 9},
                                   PictureSize{9, 1}, PictureSize{2, 2}, PictureSize{3, 5}})
      for (const std::size_t room : {0, 7, 20 * 17 * 3})
        run_all(size, channels, std::vector<std::uint8_t>(room));
}

std::vector<std::uint8_t> worked(const Operation& accepting, const std::string& list,
                                 const std::vector<std::uint8_t>& picture, PictureSize size,
                                 std::int64_t channels) {
  EXPECT_TRUE(accepting.accepts(channels)) << list;
  Canvas canvas;
  canvas.begin(picture.data(), size, channels, nullptr, 0);
  Philox random(1, 2, 3, 4);
  made(list)[0]->run(canvas, random);
  return {canvas.pixels(), canvas.pixels() + canvas.bytes()};
}

TEST(OperationsTest, ChangeEachOfManyChannelsAsAGrayPicture) {
  constexpr PictureSize kSize{23, 31};
  constexpr std::int64_t kMany = 7;
  std::vector<std::uint8_t> picture(static_cast<std::size_t>(kSize.pixels() * kMany));
  for (std::size_t i = 0; i < picture.size(); ++i)
    picture[i] = static_cast<std::uint8_t>(mix64(i) % (64 + i % kMany * 30));
  std::vector<std::string> lists{"[{resize: {size: [11, 40], interpolation: bicubic}}]",
                                 "[{resize: {size: [11, 40], interpolation: nearest}}]",
                                 "[{random_rotation: {degrees: 40, interpolation: bilinear}}]"};
  for (const OperationType& type : operation_types())
    lists.push_back(concat("[", with_its_params(type), "]"));
  int many = 0;
  for (const std::string& list : lists) {
    const auto operation = std::move(made(list)[0]);
    if (!operation->accepts(kMany)) continue;
    ++many;
    const auto all = worked(*operation, list, picture, kSize, kMany);
    for (std::size_t c = 0; c < kMany; ++c) {
      std::vector<std::uint8_t> one, found;
      for (std::size_t i = c; i < picture.size(); i += kMany) one.push_back(picture[i]);
      for (std::size_t i = c; i < all.size(); i += kMany) found.push_back(all[i]);
      ASSERT_EQ(found, worked(*operation, list, one, kSize, 1)) << list << ", channel " << c;
    }
  }
  EXPECT_GE(many, 15);
}

TEST(OperationsTest, HaveNoOtherNameElsewhere) {
  for (const OperationType& type : operation_types()) {
    const auto here = operation_elsewhere(type.name);
    EXPECT_TRUE(!here || *here == type.name) << type.name;
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
  EXPECT_THAT(long_one.error().message, HasSubstr("the limit is 16384 per side"));
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

}  // namespace
}  // namespace brigade
