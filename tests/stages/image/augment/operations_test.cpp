// The operations of `augment` by themselves: any size, any number of channels, and how much memory.

#include "stages/image/augment/operations.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <brigade/harness.h>
#include <brigade/text.h>
#include "stages/api/other_names.h"
#include "stages/image/image_stages.h"
#include "tests/support/data_limit.h"
#include "tests/support/message_of.h"
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

TEST(OperationsTest, ColorsAreThoseOfGrayOrRgb) {
  for (const char* const list : {"[{color_jitter: {brightness: 0.5}}]", "[random_grayscale]",
                                 "[rand_augment]", "[trivial_augment_wide]"}) {
    EXPECT_EQ(message_of(made(list)[0]->accepts(8)),
              "it changes colors of gray or RGB pictures; these have 8 channels");
    EXPECT_TRUE(made(list)[0]->accepts(3));
  }
  const auto erasing = made("[{random_erasing: {value: [1, 2, 3, 4]}}]");
  EXPECT_TRUE(erasing[0]->accepts(4));
  EXPECT_EQ(message_of(erasing[0]->accepts(3)),
            "value has a level for each of 4 channels, and the pictures have 3");
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

}  // namespace
}  // namespace brigade
