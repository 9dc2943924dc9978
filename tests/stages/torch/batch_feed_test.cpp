#include "stages/torch/batch_feed.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <stdexcept>

#include <brigade/harness.h>
#include "device/host_device.h"
#include "tests/support/message_of.h"

namespace brigade {
namespace {

/// Batches of two pictures of 2 x 2 pixels, that are kept by a counter.
struct FedBatch : TaskKeeper {
  FedBatch() {
    frame.fields = {field("image", DType::u8, {2, 2, 2, 1}, pixels),
                    field("label", DType::i64, {2}, reinterpret_cast<std::uint8_t*>(labels))};
    frame.samples = 2;
    frame.batched = true;
  }
  static Field field(const char* name, DType dtype, const Shape& shape, std::uint8_t* data) {
    Field out;
    out.name = name;
    out.dtype = dtype;
    out.shape = shape;
    out.data = reinterpret_cast<std::byte*>(data);
    return out;
  }
  Lease keep() override {
    ++kept;
    return Lease(this, [](const void*) {});
  }

  std::uint8_t pixels[8] = {1, 2, 3, 4, 5, 6, 7, 8};
  std::int64_t labels[2] = {7, 9};
  Frame frame;
  int kept = 0;
};

OpenContext context_of(const char* device, Reporter& reporter) {
  OpenContext context;
  context.device = device;
  context.samples_max = 2;
  context.hold = 3;
  context.inputs = {{"train.image", u8, {2, 2, 1}}, {"train.label", i64, {}}};
  context.reporter = &reporter;
  return context;
}

TEST(BatchFeedTest, OnACpuTensorsAreSharedMemory) {
  testing_support::RecordingReporter reporter;
  FedBatch batch;
  BatchFeed feed;
  ASSERT_TRUE(feed.open(context_of("cpu", reporter), at::kCPU).ok());
  const BatchFeed::Tensors tensors = feed.bring(Inputs(batch.frame), false).value();
  EXPECT_EQ(tensors.images.data_ptr(), batch.pixels);
  EXPECT_EQ(tensors.labels.data_ptr(), batch.labels);
  EXPECT_TRUE(reporter.lines.empty());
}

TEST(BatchFeedTest, ADeviceHasThemInItsOwnMemory) {
  setenv(kHostDeviceVariable, "delay_us=500", 1);
  testing_support::RecordingReporter reporter;
  FedBatch batch;
  OpenContext context = context_of("host", reporter);
  context.input_memory = {{reinterpret_cast<const std::byte*>(batch.pixels), 8}};
  BatchFeed feed;
  ASSERT_TRUE(feed.open(context, at::kCPU).ok());
  unsetenv(kHostDeviceVariable);
  ASSERT_EQ(reporter.lines.size(), 1u);
  EXPECT_TRUE(reporter.lines[0].starts_with("pinned 8 B for device host in ")) << reporter.lines[0];
  for (const bool keeps : {false, true}) {
    batch.frame.keeper = keeps ? &batch : nullptr;
    for (int again = 0; again < 5; ++again) {
      batch.pixels[0] = static_cast<std::uint8_t>(again);
      const BatchFeed::Tensors tensors = feed.bring(Inputs(batch.frame), false).value();
      EXPECT_NE(tensors.images.data_ptr(), batch.pixels);
      EXPECT_TRUE(at::equal(tensors.images, torch_view(Inputs(batch.frame)["image"])));
      EXPECT_TRUE(at::equal(tensors.labels, torch_view(Inputs(batch.frame)["label"])));
    }
    EXPECT_EQ(batch.kept, keeps ? 5 : 0);
  }
  const BatchFeed::Tensors floats_here = feed.bring(Inputs(batch.frame), true).value();
  EXPECT_EQ(floats_here.images.data_ptr(), batch.pixels);
  EXPECT_TRUE(feed.check().ok());
}

TEST(BatchFeedTest, PicturesThatLieOnTheDeviceAreReadThereUntilAllIsComputed) {
  testing_support::RecordingReporter reporter;
  FedBatch batch;
  batch.frame.fields[0].on_device = true;  // its address is one of the host, too
  OpenContext context = context_of("host", reporter);
  context.tensors_device = HostDevice::create();
  context.inputs.tensors[0].on_device = true;
  const auto stream =
      own<OwnedStream>(context.tensors_device, context.tensors_device->create_stream()).value();
  batch.frame.device_stream = stream.get();
  for (const bool keeps : {false, true}) {
    batch.frame.keeper = keeps ? &batch : nullptr;
    BatchFeed feed;
    ASSERT_TRUE(feed.open(context, at::kCPU).ok());
    const BatchFeed::Tensors tensors = feed.bring(Inputs(batch.frame), false).value();
    EXPECT_EQ(tensors.images.data_ptr(), batch.pixels);
    EXPECT_EQ(tensors.images.scalar_type(), at::kByte);
    EXPECT_NE(tensors.labels.data_ptr(), batch.labels);
    EXPECT_EQ(batch.kept, keeps ? 1 : 0);  // until the labels are there
    EXPECT_EQ(message_of(feed.leave(Inputs(batch.frame), Error{"the loss is nan"})),
              "the loss is nan");
    EXPECT_TRUE(feed.leave(Inputs(batch.frame), {}).ok());
    EXPECT_EQ(batch.kept, keeps ? 3 : 0);
  }
}

TEST(BatchFeedTest, AnErrorOfLibTorchOnADeviceThatIsLostIsThatLoss) {
  testing_support::RecordingReporter reporter;
  FedBatch batch;
  for (const bool lost : {false, true}) {
    setenv(kHostDeviceVariable, lost ? "fail_copy=0" : "", 1);
    BatchFeed feed;
    ASSERT_TRUE(feed.open(context_of("host", reporter), at::kCPU).ok());
    unsetenv(kHostDeviceVariable);
    EXPECT_EQ(feed.bring(Inputs(batch.frame), false).ok(), !lost);
    const Result<void> failed = feed.guarded([]() -> Result<void> {
      throw std::runtime_error("CUDA error: unspecified launch failure\nand a backtrace");
    });
    ASSERT_FALSE(failed);
    EXPECT_EQ(failed.error().message, lost ? "device host is lost: a copy failed midway"
                                           : "LibTorch: CUDA error: unspecified launch failure");
    EXPECT_EQ(failed.error().refusal, lost ? Refusal::lost : Refusal::other);
    EXPECT_TRUE(feed.guarded([] { return Result<void>(); }).ok());
  }
}

TEST(BatchFeedTest, WhatADeviceRefusesIsSaidAtTheStart) {
  testing_support::RecordingReporter reporter;
  const auto opened = [&](const char* variable, Pin pin) {
    setenv(kHostDeviceVariable, variable, 1);
    OpenContext context = context_of("host", reporter);
    std::vector<std::byte> ring(4096);
    context.input_memory = {{ring.data(), ring.size()}};
    context.pin = pin;
    BatchFeed feed;
    const std::string said = message_of(feed.open(context, at::kCPU));
    unsetenv(kHostDeviceVariable);
    return said;
  };
  EXPECT_EQ(opened("pinned=0", Pin::yes),
            "device host: pinned memory of 4.0 KiB does not fit: the limit is 0 B, 0 B are in use");
  EXPECT_TRUE(reporter.lines.empty());
  EXPECT_EQ(opened("pinned=0", Pin::automatic), "no error");
  ASSERT_EQ(reporter.lines.size(), 1u);
  EXPECT_TRUE(
      reporter.lines[0].starts_with("copies from pageable memory, which is slower: device host: "));
  EXPECT_EQ(opened("memory=100", Pin::no),
            "device host: device memory of 536 B does not fit: the limit is 100 B, 0 B are in use");
}

}  // namespace
}  // namespace brigade
