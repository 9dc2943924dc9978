#include "device/pinned_regions.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <vector>

#include "device/host_device.h"
#include "tests/device/fake_cuda/fake_cuda.h"
#include "tests/support/message_of.h"

namespace brigade {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

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
  EXPECT_EQ(
      text.substr(0, text.find("; this")),
      "device cuda:0: cuMemHostRegister returned CUDA_ERROR_OPERATING_SYSTEM when pinning 4.0 KiB");
  EXPECT_EQ(fake_cuda_left(), 1);
}

TEST_F(PinnedRegionsTest, ARefusalNamesTheLimitAndTheKernelThatMayBeTheCause) {
  // Addresses alone: the first chunk is refused, and no other one touched.
  const std::uint64_t bytes = kPinnedBytesByBug + (std::uint64_t{1} << 30);
  void* const place =
      mmap(nullptr, bytes, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  ASSERT_NE(place, MAP_FAILED);
  regions_ = {{static_cast<const std::byte*>(place), bytes}};
  device_ = CudaDevice::open(open_fake_cuda("fail=cuMemHostRegister_v2:304:0").value(), 0).value();
  const auto said = [&](const char* kernel) {
    return message_of(PinnedRegions::pin(device_, regions_, kChunk, kernel));
  };
  EXPECT_THAT(said("6.12.4"),
              AllOf(HasSubstr("cuMemHostRegister returned CUDA_ERROR_OPERATING_SYSTEM"),
                    HasSubstr("; this process may lock "),
                    HasSubstr(" (`ulimit -l`); out of 3.0 GiB in total, Linux "
                              "6.12.4 may reject all above 2.0 GiB, a bug of 6.11 to 6.13")));
  EXPECT_THAT(said("6.14.0"), AllOf(HasSubstr("(`ulimit -l`)"), Not(HasSubstr("Linux"))));
  EXPECT_EQ(munmap(place, bytes), 0);
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

TEST(PinningKernel, ReleasesWithTheBugAreTold) {
  for (const char* kernel : {"6.11.0-19-generic", "6.12.4", "6.13", "6.13-rc3"})
    EXPECT_TRUE(pins_little(kernel)) << kernel;
  for (const char* kernel : {"6.10.14", "6.14.0", "6.1.0", "6.110.1", "5.15.0", "16.12.0", ""})
    EXPECT_FALSE(pins_little(kernel)) << kernel;
  EXPECT_FALSE(running_kernel().empty());
}

TEST(PinningKernel, IsNamedOnlyAboveWhatItPins) {
  EXPECT_EQ(kernel_cause("6.12.4", kPinnedBytesByBug + 4096),
            "; out of 2.0 GiB in total, Linux 6.12.4 may reject all above 2.0 GiB, a bug of 6.11 "
            "to 6.13");
  EXPECT_EQ(kernel_cause("6.12.4", kPinnedBytesByBug), "");
  EXPECT_EQ(kernel_cause("6.14.0", 3 * kPinnedBytesByBug), "");
}

}  // namespace
}  // namespace brigade
