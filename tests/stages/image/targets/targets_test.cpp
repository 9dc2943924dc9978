// What belongs to a picture moves with it: tests/golden/stages/augment_targets.txt.
// python/tests/augment_targets_test.py compares masks with torchvision's, and keypoints with where
// dots in the picture go.

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
              with->process({picture(), mask, host_tensor<float>("boxes", {1, 4}, {1, 1, 3, 3})},
                            {.id = id})
                  .value()["image"]);
}

}  // namespace
}  // namespace brigade
