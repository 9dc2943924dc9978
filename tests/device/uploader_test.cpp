#include "device/uploader.h"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <atomic>
#include <latch>
#include <string>
#include <vector>

#include "base/mapping.h"
#include "device/host_device.h"
#include "tests/support/message_of.h"

namespace brigade {
namespace {

HostDeviceOptions late() {
  HostDeviceOptions options;
  options.delay = std::chrono::microseconds(300);
  return options;
}

/// A ring of 12 MiB, and what is on the device of it.
class UploaderTest : public testing::Test {
 protected:
  Result<void> create(const HostDeviceOptions& options, Pin pin) {
    device_ = HostDevice::create(options);
    memory_ = own<DeviceMemory>(device_, device_->allocate(ring_.size())).value();
    compute_ = own<OwnedStream>(device_, device_->create_stream()).value();
    const InputMemory ring{ring_.data(), ring_.size()};
    BRIGADE_ASSIGN(uploader_, Uploader::create(device_, pin, {&ring, 1}));
    return {};
  }
  Lease lease() {
    ++out_;
    return Lease(this, [this](const void*) { --out_; });
  }
  Result<void> upload(const std::vector<std::byte>& from) {
    BRIGADE_TRY(uploader_->begin(compute_.get()));
    BRIGADE_TRY(uploader_->copy(memory_.get(), from.data(), from.size()));
    return uploader_->finish(compute_.get(), lease());
  }
  /// What the device computes with, in its order.
  std::vector<std::byte> seen(std::size_t bytes) {
    std::vector<std::byte> seen;
    const auto* const at = reinterpret_cast<const std::byte*>(memory_.get());
    EXPECT_TRUE(device_->compute([&] { seen.assign(at, at + bytes); }, compute_.get()).ok());
    const auto event = own<OwnedEvent>(device_, device_->create_event()).value();
    EXPECT_TRUE(device_->record(event.get(), compute_.get()).ok());
    EXPECT_TRUE(device_->wait(event.get()).ok());
    return seen;
  }

  std::vector<std::byte> ring_ = std::vector<std::byte>(12 << 20, std::byte{3});
  std::atomic<int> out_{0};
  std::shared_ptr<HostDevice> device_;
  DeviceMemory memory_;
  OwnedStream compute_;
  std::unique_ptr<Uploader> uploader_;
};

TEST_F(UploaderTest, WhatTheDeviceComputesWithIsThere) {
  ASSERT_TRUE(create(late(), Pin::automatic).ok());
  EXPECT_TRUE(uploader_->report().starts_with("pinned 12.0 MiB for device host in "));
  EXPECT_GT(device_->pinned_bytes(), 12u << 20);
  std::latch goes_on(1);
  ASSERT_TRUE(device_->compute([&] { goes_on.wait(); }, compute_.get()).ok());
  ASSERT_TRUE(upload(ring_).ok());
  EXPECT_EQ(out_, 1);  // no copy begins before what the device computes with now
  goes_on.count_down();
  EXPECT_EQ(seen(ring_.size()), ring_);
  uploader_.reset();
  EXPECT_EQ(out_, 0);
  EXPECT_EQ(device_->pinned_bytes(), 0u);
}

TEST_F(UploaderTest, OtherMemoryGoesThroughPinnedBuffers) {
  ASSERT_TRUE(create(late(), Pin::automatic).ok());
  std::vector<std::byte> gathered(11 << 20);  // three buffers full, of two
  for (std::size_t i = 0; i < gathered.size(); ++i) gathered[i] = std::byte(i % 253);
  const std::vector<std::byte> before = gathered;
  ASSERT_TRUE(upload(gathered).ok());
  gathered.assign(gathered.size(), std::byte{0});  // it has been read
  EXPECT_EQ(seen(before.size()), before);
}

TEST_F(UploaderTest, MemoryThatIsStillComputedWithIsNotWrittenAnew) {
  ASSERT_TRUE(create(late(), Pin::no).ok());
  EXPECT_EQ(uploader_->report(), "");
  std::vector<std::byte> small(1000, std::byte{1});
  ASSERT_TRUE(upload(small).ok());
  std::vector<std::byte> first;
  const auto* const at = reinterpret_cast<const std::byte*>(memory_.get());
  const auto look = [&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    first.assign(at, at + 1000);
  };
  ASSERT_TRUE(device_->compute(look, compute_.get()).ok());
  const std::vector<std::byte> next(1000, std::byte{2});
  ASSERT_TRUE(upload(next).ok());
  EXPECT_EQ(seen(1000), next);
  EXPECT_EQ(first, small);
}

TEST_F(UploaderTest, WhereNothingMayBePinnedItCopiesAndSaysWhy) {
  HostDeviceOptions tight = late();
  tight.pinned_bytes = 1 << 20;
  ASSERT_TRUE(create(tight, Pin::automatic).ok());
  EXPECT_EQ(uploader_->report(),
            "copies from pageable memory, which is slower: device host: pinned memory of 12.0 MiB "
            "does not fit: the limit is 1.0 MiB, 0 B are in use");
  ASSERT_TRUE(upload(ring_).ok());
  EXPECT_EQ(seen(ring_.size()), ring_);
  EXPECT_EQ(device_->pinned_bytes(), 0u);
}

/// A stage's rings are mapped to be read only; a program's, where it is the only reader, to be
/// written: the control.
TEST_F(UploaderTest, MemoryThatMayOnlyBeReadIsCopiedWhereTheDeviceCannotPinIt) {
  if (!populate_pages(nullptr, 0)) GTEST_SKIP() << "the kernel does not say what may be written";
  constexpr std::uint64_t kBytes = 1 << 20;
  HostDeviceOptions options = late();
  options.read_only_refused = true;
  device_ = HostDevice::create(options);
  for (const int access : {PROT_READ, PROT_READ | PROT_WRITE}) {
    void* const at = mmap(nullptr, kBytes, access, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    ASSERT_NE(at, MAP_FAILED);
    const InputMemory ring{static_cast<const std::byte*>(at), kBytes};
    const auto report = [&](Pin pin) {
      const auto made = Uploader::create(device_, pin, {&ring, 1});
      return made ? (*made)->report() : "error: " + made.error().message;
    };
    if (access == PROT_READ) {
      const std::string why = "device host: cannot pin read-only memory";
      EXPECT_EQ(report(Pin::automatic), "copies from pageable memory, which is slower: " + why);
      EXPECT_EQ(report(Pin::yes), "error: " + why);
    } else {
      EXPECT_TRUE(report(Pin::yes).starts_with("pinned 1.0 MiB for device host in "));
    }
    EXPECT_EQ(munmap(at, kBytes), 0);
  }
}

TEST_F(UploaderTest, WhereItMustBePinnedThatIsAnError) {
  HostDeviceOptions tight = late();
  tight.pinned_bytes = 1 << 20;
  EXPECT_EQ(
      message_of(create(tight, Pin::yes)),
      "device host: pinned memory of 12.0 MiB does not fit: the limit is 1.0 MiB, 0 B are in use");
}

TEST_F(UploaderTest, ALossIsSaidAtTheNextBatch) {
  HostDeviceOptions fails = late();
  fails.fail_copy = 0;
  ASSERT_TRUE(create(fails, Pin::no).ok());
  if (upload(ring_).ok())  // else it has noticed the loss itself
    while (uploader_->check().ok()) std::this_thread::yield();
  EXPECT_EQ(message_of(upload(ring_)), "device host is lost: a copy failed midway");
  uploader_.reset();
  EXPECT_EQ(out_, 0);
}

}  // namespace
}  // namespace brigade
