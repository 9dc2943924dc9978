// python/tests/mix_batch_test.py compares batches with torch's, on the same draws.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <brigade/harness.h>
#include "stages/image/image_stages.h"
#include "tests/support/only_type.h"

namespace brigade {
namespace {

using namespace testing_support;
using testing::ElementsAre;
using testing::HasSubstr;

Result<std::unique_ptr<StageHarness>> open_with(ParamTexts params, std::vector<Dim> shape,
                                                DType dtype = u8) {
  return StageHarness::open(only_type<add_mix_batch>(),
                            {.params = std::move(params),
                             .inputs = {{"image", dtype, std::move(shape)}, {"label", i64, {}}}});
}

HostTensor images(std::int64_t count) {
  std::vector<std::uint8_t> levels;
  for (std::int64_t i = 0; i < count; ++i)
    for (int at = 0; at < 48; ++at) levels.push_back(static_cast<std::uint8_t>(100 * i));
  return host_tensor("image", {count, 4, 4, 3}, levels);
}

std::vector<SampleInfo> infos(std::int64_t count) {
  std::vector<SampleInfo> all;
  for (std::int64_t i = 0; i < count; ++i) all.push_back({.id = static_cast<std::uint64_t>(i) + 7});
  return all;
}

TEST(MixBatchTest, WithoutMixingLabelsBecomeSharesAndPicturesStay) {
  auto stage = open_with({{"classes", "4"}, {"smoothing", "0.2"}}, {4, 4, 3}).value();
  EXPECT_EQ(stage->outputs().find("label")->text(), "label f32[4]");
  const auto call =
      stage->process_batch({images(2), host_tensor<std::int64_t>("label", {2}, {3, 0})}, infos(2))
          .value();
  EXPECT_EQ(call["image"], images(2));
  const float low = 0.05F;
  const float high = 0.85F;
  EXPECT_THAT(call["label"].as<float>(), ElementsAre(low, low, low, testing::FloatEq(high),
                                                     testing::FloatEq(high), low, low, low));
}

TEST(MixBatchTest, OneSampleIsMixedWithItself) {
  auto stage = open_with({{"classes", "2"}, {"mixup", "0.4"}}, {4, 4, 3}).value();
  const auto call =
      stage->process_batch({images(1), host_tensor<std::int64_t>("label", {1}, {1})}, infos(1))
          .value();
  EXPECT_EQ(call["image"], images(1));
  EXPECT_THAT(call["label"].as<float>(), ElementsAre(0, testing::FloatEq(1)));
}

TEST(MixBatchTest, ALabelThatIsNoClassIsNamed) {
  auto stage = open_with({{"classes", "2"}, {"mixup", "1"}}, {4, 4, 3}).value();
  for (const std::int64_t label : {2, -1}) {
    const auto call = stage->process_batch(
        {images(2), host_tensor<std::int64_t>("label", {2}, {0, label})}, infos(2));
    ASSERT_FALSE(call);
    EXPECT_THAT(call.error().message,
                HasSubstr(concat("the label of the sample with id 8 is ", label,
                                 "; with `classes: 2` labels must be 0 to 1")));
  }
}

}  // namespace
}  // namespace brigade
