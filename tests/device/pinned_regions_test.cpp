#include "device/pinned_regions.h"

#include <gtest/gtest.h>

#include <vector>

#include "device/host_device.h"
#include "tests/device/fake_cuda/fake_cuda.h"
#include "tests/support/message_of.h"

namespace brigade {
namespace {

constexpr std::uint64_t kChunk = 4096;

/// Two regions of three and of one and a half chunks, and the fake GPU that they are pinned for.
class PinnedRegionsTest : public testing::Test {
 protected:
  Result<PinnedRegions> pin(const char* settings) {
    device_ = CudaDevice::open(open_fake_cuda(settings).value(), 0).value();
    return PinnedRegions::pin(device_, regions_, kChunk);
  }

  std::vector<std::byte> first_ = std::vector<std::byte>(3 * kChunk);
  std::vector<std::byte> second_ = std::vector<std::byte>(kChunk + kChunk / 2);
  std::vector<InputMemory> regions_{{first_.data(), first_.size()},
                                    {second_.data(), second_.size()}};
  std::shared_ptr<Device> device_;
};

TEST_F(PinnedRegionsTest, ArePinnedOnceInChunksToBeReadAndUnpinned) {
  {
    const auto pinned = pin("").value();
    EXPECT_EQ(pinned.chunks(), 5u);
    EXPECT_EQ(pinned.bytes(), first_.size() + second_.size());
    EXPECT_EQ(fake_cuda_log(),
              "register 4096 read-only\nregister 4096 read-only\nregister 4096 read-only\n"
              "register 4096 read-only\nregister 2048 read-only\n");
  }
  EXPECT_EQ(fake_cuda_left(), 1);  // the context
}

TEST_F(PinnedRegionsTest, WhereTheDriverCannotPinToReadTheyArePinnedToWrite) {
  const auto pinned = pin("read_only_refused=1").value();
  EXPECT_EQ(fake_cuda_log().substr(0, 49), "register 4096 read-only\nregister 4096 read-write\n");
  EXPECT_EQ(pinned.chunks(), 5u);
}

TEST_F(PinnedRegionsTest, ARefusalInTheMiddleUnpinsWhatWasPinned) {
  const std::string text = message_of(pin("fail=cuMemHostRegister_v2:304:3"));
  EXPECT_EQ(text.substr(0, text.find("; this")),
            "device cuda:0: cuMemHostRegister says CUDA_ERROR_OPERATING_SYSTEM to pinning 4.0 KiB");
  EXPECT_EQ(fake_cuda_left(), 1);
}

TEST_F(PinnedRegionsTest, ACopyIsParted) {
  const auto pinned = pin("").value();
  for (std::size_t i = 0; i < first_.size(); ++i) first_[i] = std::byte(i % 251);
  const std::uint64_t bytes = 2 * kChunk;
  const auto memory = own<DeviceMemory>(device_, device_->allocate(bytes)).value();
  const auto event = own<OwnedEvent>(device_, device_->create_event()).value();
  const std::byte* const from = first_.data() + 100;
  // Undivided the driver refuses it.
  EXPECT_FALSE(device_->copy_to_device(memory.get(), from, bytes, nullptr).ok());
  ASSERT_TRUE(pinned.copy(memory.get(), from, bytes, nullptr).ok());
  ASSERT_TRUE(device_->record(event.get(), nullptr).ok());
  ASSERT_TRUE(device_->wait(event.get()).ok());
  const auto* const at = reinterpret_cast<const std::byte*>(memory.get());
  EXPECT_TRUE(std::equal(at, at + bytes, from));
  EXPECT_TRUE(pinned.contain(from, bytes));
  EXPECT_FALSE(pinned.contain(first_.data(), first_.size() + 1));
  EXPECT_FALSE(pinned.copy(memory.get(), first_.data() - 1, 1, nullptr).ok());
}

}  // namespace
}  // namespace brigade
