// The stage normalize_image with pictures and floats in a device's memory, or one of them: on a
// GPU, where there is one, and on the device of the host, which has its kernels' twin.

#include <brigade/cuda.h>
#include <gtest/gtest.h>

#include "device/open_device.h"
#include "stages/cuda/cuda_stages.h"
#include "tests/stages/cuda/made_pictures.h"
#include "tests/support/only_type.h"

namespace brigade::cuda {
namespace {

constexpr std::int64_t kBatch = 300;  // more than one launch has
constexpr std::int64_t kSide = 20;
constexpr std::uint64_t kSeed = 7;
constexpr std::uint64_t kPictureBytes = kBatch * kSide * kSide * 3;
constexpr std::uint64_t kFloatBytes = kPictureBytes * sizeof(float);

struct SilentReporter : Reporter {
  void report(std::string_view, double) override {}
  void report(std::string_view, std::uint64_t) override {}
  void log(std::string_view) override {}
};

/// A batch whose pictures, floats, or both lie on a device.
class NormalizeOnDevice : public testing::TestWithParam<std::tuple<const char*, bool, bool>> {
 protected:
  void SetUp() override {
    auto opened = open_device(std::get<0>(GetParam()));
    if (!opened) GTEST_SKIP() << "no GPU: " << opened.error().message;
    device_ = *opened;
    if (device_->name() != "host" && !has_kernels())
      GTEST_SKIP() << "nvcc was not there when this was built";
    stream_ = own<OwnedStream>(device_, device_->create_stream()).value();
    event_ = own<OwnedEvent>(device_, device_->create_event()).value();
    there_ = own<DeviceMemory>(device_, device_->allocate(kPictureBytes + kFloatBytes)).value();
    levels_ = made_levels(kPictureBytes, 1);
    for (std::uint64_t i = 0; i < kBatch; ++i) samples_.push_back({.id = 50 + i, .epoch = 2});
    fill_contexts();
  }

  void fill_contexts() {
    context_.tensors_device = device_;
    context_.samples_max = kBatch;
    context_.reporter = &reporter_;
    context_.inputs = {{"image", u8, {Dim(kSide), Dim(kSide), Dim(3)}}};
    context_.outputs = {{"image", f32, {Dim(3), Dim(kSide), Dim(kSide)}}};
    context_.inputs.tensors[0].on_device = pictures_there_;
    context_.outputs.tensors[0].on_device = floats_there_;
    in_ = frame_of(u8, Shape{kBatch, kSide, kSide, 3}, pictures_there_,
                   pictures_there_ ? at(0) : reinterpret_cast<std::byte*>(levels_.data()));
    out_ =
        frame_of(f32, Shape{kBatch, 3, kSide, kSide}, floats_there_,
                 floats_there_ ? at(kPictureBytes) : reinterpret_cast<std::byte*>(floats_.data()));
    in_.infos = samples_;
    in_.seed = kSeed;
    in_.stream = stream_id("train");
  }

  Frame frame_of(DType dtype, const Shape& shape, bool on_device, std::byte* data) {
    Frame frame;
    Field& field = frame.fields.emplace_back();
    field.name = "image";
    field.dtype = dtype;
    field.shape = field.bounds = shape;
    field.data = data;
    field.on_device = on_device;
    frame.samples = kBatch;
    frame.batched = true;
    frame.device_stream = stream_.get();
    return frame;
  }

  std::byte* at(std::uint64_t offset) {
    return reinterpret_cast<std::byte*>(there_.get() + offset);
  }

  /// As a replica does between calls.
  void wait() {
    ASSERT_TRUE(device_->record(event_.get(), stream_.get()).ok());
    const auto waited = device_->wait(event_.get());
    ASSERT_TRUE(waited.ok()) << waited.error().message;
  }

  const bool pictures_there_ = std::get<1>(GetParam());
  const bool floats_there_ = std::get<2>(GetParam());
  std::shared_ptr<Device> device_;
  OwnedStream stream_;
  OwnedEvent event_;
  DeviceMemory there_;
  std::vector<std::uint8_t> levels_;
  std::vector<float> floats_ = std::vector<float>(kPictureBytes);
  std::vector<SampleInfo> samples_;
  SilentReporter reporter_;
  OpenContext context_;
  Frame in_, out_;
};

TEST_P(NormalizeOnDevice, GivesTheBitsOfTheCpu) {
  const StageType& type = testing_support::only_type<add_normalize_image>();
  const auto params = type.contract.make_params();
  for (const auto& [name, text] : {std::pair("pad", "3"), std::pair("flip", "0.5")})
    ASSERT_TRUE(set_param(*type.contract.find_param(name), params.get(), ParamValue::scalar(text)));
  context_.params_data = params.get();
  context_.params_type = type.contract.params_type;
  const auto stage = type.make_stage();
  const auto opened = stage->open(context_);
  ASSERT_TRUE(opened.ok()) << opened.error().message;

  const auto* bytes = reinterpret_cast<const std::byte*>(levels_.data());
  if (pictures_there_) {
    ASSERT_TRUE(device_->copy_to_device(there_.get(), bytes, kPictureBytes, stream_.get()).ok());
  }
  Outputs out(out_);
  const auto next = stage->process(Inputs(in_), out);
  ASSERT_TRUE(next) << next.error().message;
  auto* const floats = reinterpret_cast<std::byte*>(floats_.data());
  if (floats_there_) {
    ASSERT_TRUE(
        device_->copy_to_host(floats, there_.get() + kPictureBytes, kFloatBytes, stream_.get())
            .ok());
  }
  wait();

  Normalization to{.height = kSide, .width = kSide, .channels = 3, .pad = 3};
  std::vector<Cut> cuts;
  for (const SampleInfo& sample : samples_)
    cuts.push_back(random_cut(to, 0.5, Philox(kSeed, stream_id("train"), sample.epoch, sample.id)));
  std::vector<float> wanted(kPictureBytes);
  ASSERT_TRUE(normalize(to, cuts, levels_.data(), wanted.data()).ok());
  EXPECT_TRUE(floats_ == wanted);
}

const auto kPlaces = [](const char* device) {
  return testing::Values(std::tuple(device, true, true), std::tuple(device, true, false),
                         std::tuple(device, false, true));
};

INSTANTIATE_TEST_SUITE_P(OnGpu, NormalizeOnDevice, kPlaces("cuda:0"));
INSTANTIATE_TEST_SUITE_P(OnHost, NormalizeOnDevice, kPlaces("host"));

}  // namespace
}  // namespace brigade::cuda
