// What belongs to a picture moves with it. python/tests/augment_targets_test.py compares masks with
// torchvision's, and keypoints with where dots in the picture go.

#include "stages/image/targets/targets.h"

#include <gtest/gtest.h>

#include <brigade/harness.h>
#include "stages/image/image_stages.h"
#include "tests/support/only_type.h"

namespace brigade {
namespace {

using namespace testing_support;

Result<std::unique_ptr<StageHarness>> open_with(const std::string& operations,
                                                const std::string& targets, Ports inputs) {
  inputs.tensors.insert(inputs.tensors.begin(), {"image", u8, {4, 6, 1}});
  return StageHarness::open(
      only_type<add_augment>(),
      {.params = {{"operations", operations}, {"targets", targets}}, .inputs = std::move(inputs)});
}

HostTensor picture() {
  std::vector<std::uint8_t> levels(24);
  for (std::size_t i = 0; i < levels.size(); ++i) levels[i] = static_cast<std::uint8_t>(i);
  return host_tensor("image", {4, 6, 1}, levels);
}

HostTensor floats(const std::string& name, const Shape& shape, const std::vector<float>& values) {
  return host_tensor(name, shape, values);
}

constexpr const char* kMoves =
    "[{pad: {padding: [1, 0, 2, 1], fill: 77}}, {random_horizontal_flip: {p: 1}}, "
    "{center_crop: {size: [3, 4]}}, {random_vertical_flip: {p: 1}}, {random_affine: {degrees: "
    "[60, 60], fill: 77}}]";

TEST(MaskTest, EachPixelGoesWhereThePictureSGoes) {
  // A picture whose levels are those of the mask: looked up by the nearest pixel, they stay equal.
  auto mask = host_tensor("mask", {4, 6}, picture().as<std::uint8_t>());
  auto stage = open_with(kMoves, "[{mask: {fill: 77}}]", {{"mask", u8, {4, 6}}}).value();
  const auto call = stage->process({picture(), mask}).value();
  EXPECT_EQ(call["mask"].shape, (Shape{3, 4}));
  EXPECT_EQ(call["mask"].as<std::uint8_t>(), call["image"].as<std::uint8_t>());
}

TEST(MaskTest, WideValuesAndChannelsAreKept) {
  const auto levels = picture().as<std::uint8_t>();
  std::vector<std::int64_t> wide;
  std::vector<std::uint8_t> triples;
  for (const std::uint8_t level : levels) {
    wide.push_back((std::int64_t{1} << 40) - level);
    for (int c = 0; c < 3; ++c) triples.push_back(static_cast<std::uint8_t>(level + 50 * c));
  }
  auto stage = open_with(kMoves, "[{mask: {fill: -100}}, {mask: {name: edges}}]",
                         {{"mask", i64, {4, 6, 1}}, {"edges", u8, {4, 6, 3}}})
                   .value();
  const auto call = stage
                        ->process({picture(), host_tensor("mask", {4, 6, 1}, wide),
                                   host_tensor("edges", {4, 6, 3}, triples)})
                        .value();
  const auto image = call["image"].as<std::uint8_t>();
  const auto mask = call["mask"].as<std::int64_t>();
  const auto edges = call["edges"].as<std::uint8_t>();
  int outside = 0;
  for (std::size_t i = 0; i < image.size(); ++i) {
    const bool filled = image[i] == 77;
    outside += filled ? 1 : 0;
    EXPECT_EQ(mask[i], filled ? -100 : (std::int64_t{1} << 40) - image[i]);
    for (std::size_t c = 0; c < 3; ++c)
      EXPECT_EQ(edges[3 * i + c], filled ? 0 : static_cast<std::uint8_t>(image[i] + 50 * c));
  }
  EXPECT_TRUE(outside > 0 && outside < 12) << outside;
}

TEST(TargetsTest, DrawsAndPictureStayAsTheyWere) {
  const std::string operations =
      "[{random_resized_crop: {size: 5}}, random_horizontal_flip, {random_affine: {degrees: 90}}, "
      "{random_erasing: {p: 1}}]";
  auto alone = open_with(operations, "[]", {}).value();
  auto with = open_with(operations, "[mask, boxes]", {{"mask", u8, {4, 6}}, {"boxes", f32, {1, 4}}})
                  .value();
  const auto mask = host_tensor("mask", {4, 6}, picture().as<std::uint8_t>());
  for (std::uint64_t id = 0; id < 20; ++id)
    EXPECT_EQ(alone->process({picture()}, {.id = id}).value()["image"],
              with->process({picture(), mask, floats("boxes", {1, 4}, {1, 1, 3, 3})}, {.id = id})
                  .value()["image"]);
}

}  // namespace
}  // namespace brigade
