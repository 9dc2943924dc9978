// torch_classifier on a device that is lost where LibTorch is the first to meet that: the device is
// the host's, which is lost when the test says so, and LibTorch fails on pictures of other channels
// than the model has.

#include <gtest/gtest.h>

#include "device/host_device.h"
#include "tests/stages/torch/made_batches.h"
#include "tests/support/message_of.h"

namespace brigade {
namespace {

using namespace testing_support;

class LostDeviceTest : public testing::Test {
 protected:
  void SetUp() override {
    OpenContext context;
    context.params_data = params_.get();
    context.params_type = type_.contract.params_type;
    context.reporter = &reports_;
    context.device = "host";
    context.tensors_device = device_;
    context.samples_max = kSamples;
    context.inputs = {{"image", f32, {8, 9, 3}}, kLabel};
    context.inputs.tensors[0].on_device = true;
    ASSERT_EQ(message_of(stage_->open(context)), "no error");
  }

  Result<void> step(std::int64_t channels) {
    const Shape shape{kSamples, 8, 9, channels};
    const SampleInfo infos[kSamples];
    Frame frame;
    frame.batched = true;
    frame.samples = kSamples;
    frame.infos = infos;
    auto* const pictures = reinterpret_cast<std::byte*>(pictures_.data());
    auto* const labels = reinterpret_cast<std::byte*>(labels_);
    frame.fields.push_back({"image", f32, false, shape, shape, {}, {}, pictures, 0, true});
    frame.fields.push_back({"label", i64, false, {kSamples}, {kSamples}, {}, {}, labels, 8, false});
    Frame none;
    Outputs out(none);
    const Result<Next> next = stage_->process(Inputs(frame), out);
    if (!next) return next.error();
    return {};
  }

  static constexpr std::int64_t kSamples = 4;
  std::vector<float> pictures_ = std::vector<float>(kSamples * 8 * 9 * 3, 0.25F);
  std::int64_t labels_[kSamples]{};
  RecordingReporter reports_;
  const std::shared_ptr<HostDevice> device_ = HostDevice::create();
  const StageType type_ = classifier_type();
  const std::shared_ptr<void> params_ = type_.contract.make_params();
  const std::unique_ptr<Stage> stage_ = type_.make_stage();
};

TEST_F(LostDeviceTest, IsTheErrorOfAStepThatFailsThereAndALossSoThatNothingIsSkipped) {
  ASSERT_EQ(message_of(step(3)), "no error");
  const auto mistake = step(1);
  ASSERT_FALSE(mistake);
  EXPECT_TRUE(mistake.error().message.starts_with("LibTorch: ")) << mistake.error().message;
  EXPECT_EQ(mistake.error().refusal, Refusal::other);

  device_->lose("it fell off the bus");
  const auto lost = step(1);
  ASSERT_FALSE(lost);
  const char* const text = "device host is lost: it fell off the bus";
  EXPECT_EQ(lost.error().message, text);
  EXPECT_EQ(lost.error().refusal, Refusal::lost);
  EXPECT_EQ(message_of(stage_->epoch_end({0, "train"})), text);
  EXPECT_EQ(message_of(stage_->save()), text);
}

}  // namespace
}  // namespace brigade
