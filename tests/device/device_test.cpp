// What every device keeps to: that of the host, and a GPU's by the driver's calls.

#include "device/device.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "device/host_device.h"
#include "tests/device/fake_cuda/fake_cuda.h"
#include "tests/support/message_of.h"

namespace brigade {
namespace {

std::shared_ptr<Device> make_host() { return HostDevice::create(); }
std::shared_ptr<Device> make_cuda() {
  return CudaDevice::open(open_fake_cuda().value(), 0).value();
}

class AnyDevice : public testing::TestWithParam<std::shared_ptr<Device> (*)()> {
 protected:
  Result<void> copy_and_back(std::vector<std::byte>& back) {
    BRIGADE_TRY(device->copy_to_device(memory.get(), bytes.data(), bytes.size(), stream.get()));
    back.resize(bytes.size());
    BRIGADE_TRY(device->copy_to_host(back.data(), memory.get(), back.size(), stream.get()));
    return device->record(event.get(), stream.get());
  }

  const std::shared_ptr<Device> device = GetParam()();
  DeviceMemory memory = own<DeviceMemory>(device, device->allocate(1000)).value();
  OwnedStream stream = own<OwnedStream>(device, device->create_stream()).value();
  OwnedEvent event = own<OwnedEvent>(device, device->create_event()).value();
  std::vector<std::byte> bytes = std::vector<std::byte>(1000, std::byte{7});
};

TEST_P(AnyDevice, CopiesThereAndBack) {
  std::vector<std::byte> back;
  ASSERT_TRUE(copy_and_back(back).ok());
  ASSERT_TRUE(device->wait(event.get()).ok());
  EXPECT_EQ(back, bytes);
}

TEST_P(AnyDevice, ComputesInItsMemoryBetweenCopies) {
  const auto change = [this] {  // the fake GPU's memory is that of the host, too
    auto* const last = reinterpret_cast<std::byte*>(memory.get()) + 999;
    *last = *last == std::byte{7} ? std::byte{8} : std::byte{9};
  };
  std::vector<std::byte> back;
  ASSERT_TRUE(copy_and_back(back).ok());
  ASSERT_TRUE(device->wait(event.get()).ok());  // the fake GPU computes when it is told to
  const auto launch = [&change](DeviceStream) -> Result<void> {
    change();
    return {};
  };
  ASSERT_TRUE(device->compute({launch, change}, stream.get()).ok());
  ASSERT_TRUE(device->copy_to_host(back.data(), memory.get(), back.size(), stream.get()).ok());
  ASSERT_TRUE(device->record(event.get(), stream.get()).ok());
  ASSERT_TRUE(device->wait(event.get()).ok());
  EXPECT_EQ(back[998], std::byte{7});
  EXPECT_EQ(back[999], std::byte{8});
}

TEST_P(AnyDevice, AnEventPassesInTheEnd) {
  EXPECT_TRUE(device->passed(event.get()).value());  // nothing was recorded
  std::vector<std::byte> back;
  ASSERT_TRUE(copy_and_back(back).ok());
  while (!device->passed(event.get()).value()) {
  }
  EXPECT_EQ(back, bytes);
}

TEST_P(AnyDevice, WhatAStreamIsToldWaitsForAnEventOfAnother) {
  const auto other = own<OwnedStream>(device, device->create_stream()).value();
  const auto last = own<OwnedEvent>(device, device->create_event()).value();
  std::vector<std::byte> back(bytes.size());
  ASSERT_TRUE(device->copy_to_device(memory.get(), bytes.data(), bytes.size(), stream.get()).ok());
  ASSERT_TRUE(device->record(event.get(), stream.get()).ok());
  ASSERT_TRUE(device->make_wait(other.get(), event.get()).ok());
  ASSERT_TRUE(device->copy_to_host(back.data(), memory.get(), back.size(), other.get()).ok());
  ASSERT_TRUE(device->record(last.get(), other.get()).ok());
  ASSERT_TRUE(device->wait(last.get()).ok());
  EXPECT_EQ(back, bytes);
}

TEST_P(AnyDevice, PinsMemoryOnceAtATime) {
  const auto pin = [&] {
    return own<RegisteredMemory>(
        device, device->register_host(bytes.data(), bytes.size(), HostAccess::read_only));
  };
  {
    const auto pinned = pin();
    ASSERT_TRUE(pinned.ok());
    EXPECT_FALSE(pin().ok());
  }
  EXPECT_TRUE(pin().ok());
}

TEST_P(AnyDevice, WhatIsSharedOutlivesWhoMadeItAndWhoWroteIt) {
  OwnedFd kept;
  {
    const std::shared_ptr<Device> writer = GetParam()();
    kept = writer->make_shared(bytes.size()).value();
    const auto mapped = own<SharedDeviceMemory>(writer, writer->map_shared(kept.get(), bytes.size(),
                                                                           HostAccess::read_write))
                            .value();
    const auto on = own<OwnedStream>(writer, writer->create_stream()).value();
    const auto done = own<OwnedEvent>(writer, writer->create_event()).value();
    ASSERT_TRUE(writer->copy_to_device(mapped.get(), bytes.data(), bytes.size(), on.get()).ok());
    ASSERT_TRUE(writer->record(done.get(), on.get()).ok());
    ASSERT_TRUE(writer->wait(done.get()).ok());
  }
  const auto read = own<SharedDeviceMemory>(
                        device, device->map_shared(kept.get(), bytes.size(), HostAccess::read_only))
                        .value();
  kept.reset();  // the mapping keeps it, too
  std::vector<std::byte> back(bytes.size());
  ASSERT_TRUE(device->copy_to_host(back.data(), read.get(), back.size(), stream.get()).ok());
  ASSERT_TRUE(device->record(event.get(), stream.get()).ok());
  ASSERT_TRUE(device->wait(event.get()).ok());
  EXPECT_EQ(back, bytes);
}

TEST_P(AnyDevice, MapsNothingThatIsNoSharedMemory) {
  EXPECT_FALSE(device->map_shared(-1, 1000, HostAccess::read_only).ok());
}

INSTANTIATE_TEST_SUITE_P(Host, AnyDevice, testing::Values(&make_host));
INSTANTIATE_TEST_SUITE_P(Cuda, AnyDevice, testing::Values(&make_cuda));

}  // namespace
}  // namespace brigade
