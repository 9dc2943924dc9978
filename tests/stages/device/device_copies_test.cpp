// Where nothing lies on a device; where something does: tests/integration/device_memory_test.py.
#include <gtest/gtest.h>

#include <brigade/harness.h>
#include "stages/device/device_stages.h"
#include "tests/support/message_of.h"

namespace brigade {
namespace {

using namespace testing_support;

struct DeviceCopies : testing::TestWithParam<void (*)(StageTypes&)> {
  Result<std::unique_ptr<StageHarness>> open(const ParamTexts& params, const Ports& inputs) {
    GetParam()(types);
    return StageHarness::open(types.all()[0], {params, inputs, {}});
  }
  StageTypes types;
};

TEST_P(DeviceCopies, CopyTheTensorThatIsNamed) {
  const auto stage = open({{"tensor", "depth"}}, Ports{{"depth", f32, {Dim(2)}}}).value();
  const auto called =
      stage->process_batch({host_tensor<float>("depth", {2, 2}, {1, 2, 3, 4})}, {{}, {}});
  EXPECT_EQ((*called)["depth"].as<float>(), (std::vector<float>{1, 2, 3, 4}));
}

TEST_P(DeviceCopies, RefuseWhatTheyCannotCopy) {
  EXPECT_EQ(
      message_of(open({{"tensor", "image"}}, Ports{{"depth", f32, {Dim(2)}}, {"label", i64, {}}})),
      "unknown tensor \"image\"; the input has depth, label");
  EXPECT_EQ(message_of(open({{"tensor", "image"}}, Ports{{"image", u8, {up_to(9)}}})),
            "expected a tensor of one size, found image u8[<=9]; crop or resize all samples "
            "upstream to one size");
}

INSTANTIATE_TEST_SUITE_P(ToDevice, DeviceCopies, testing::Values(&add_to_device));
INSTANTIATE_TEST_SUITE_P(FromDevice, DeviceCopies, testing::Values(&add_from_device));

}  // namespace
}  // namespace brigade
