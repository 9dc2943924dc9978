// What only a GPU can show; without one each test says so. Part of `gpu_check`.

#include <brigade/cuda.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>

#include "device/cuda_driver.h"
#include "device/open_device.h"
#include "tests/stages/cuda/made_pictures.h"

namespace brigade::cuda {
namespace {

/// The first GPU.
class OnGpuTest : public testing::Test {
 protected:
  void SetUp() override {
    const auto driver = CudaDriver::open();
    if (!driver) GTEST_SKIP() << "no GPU: " << driver.error().message;
    if ((*driver)->devices() == 0) GTEST_SKIP() << "no GPU: NVIDIA's driver has none";
    device_ = open_device("cuda:0").value();
  }

  std::shared_ptr<Device> device_;
};

DeviceWork normalizing(const Normalization& to, std::span<const Cut> cuts, std::uint64_t pictures,
                       std::uint64_t values) {
  DeviceWork work;
  work.launch = [&to, cuts, pictures, values](DeviceStream stream) {
    return normalize_on_gpu(to, cuts, reinterpret_cast<const std::uint8_t*>(pictures),
                            reinterpret_cast<void*>(values), stream);
  };
  return work;
}

template <class Owned, class Made>
Owned owned(const std::shared_ptr<Device>& device, Made made) {
  auto result = own<Owned>(device, made);
  EXPECT_TRUE(result) << (result ? "" : result.error().message);
  return std::move(*result);
}

TEST_F(OnGpuTest, KernelsGiveTheBitsOfTheCpu) {
  if (!has_kernels()) GTEST_SKIP() << "nvcc was not there when this was built";
  for (const DType dtype : {f32, f16, bf16})
    for (const int orders : {0, 1, 2, 3}) {
      const KernelCase one(dtype, orders, 300, 4);
      const auto in = owned<DeviceMemory>(device_, device_->allocate(one.levels.size()));
      const auto out = owned<DeviceMemory>(device_, device_->allocate(one.by_cpu.size()));
      const auto stream = owned<OwnedStream>(device_, device_->create_stream());
      const auto event = owned<OwnedEvent>(device_, device_->create_event());
      const auto* bytes = reinterpret_cast<const std::byte*>(one.levels.data());
      ASSERT_TRUE(device_->copy_to_device(in.get(), bytes, one.levels.size(), stream.get()).ok());
      const auto done =
          device_->compute(normalizing(one.to, one.cuts, static_cast<std::uint64_t>(in.get()),
                                       static_cast<std::uint64_t>(out.get())),
                           stream.get());
      ASSERT_TRUE(done.ok()) << done.error().message;
      std::vector<std::byte> by_gpu(one.by_cpu.size());
      ASSERT_TRUE(
          device_->copy_to_host(by_gpu.data(), out.get(), by_gpu.size(), stream.get()).ok());
      ASSERT_TRUE(device_->record(event.get(), stream.get()).ok());
      ASSERT_TRUE(device_->wait(event.get()).ok());
      EXPECT_TRUE(one.by_cpu == by_gpu) << dtype_name(dtype) << ' ' << orders;
    }
}

TEST_F(OnGpuTest, RegisteredMemoryIsCopiedThereAndBack) {
  const std::size_t bytes = 64 << 20;
  std::vector<std::byte> memory(bytes + 4096);
  auto* const page = reinterpret_cast<std::byte*>(
      (reinterpret_cast<std::uintptr_t>(memory.data()) + 4095) / 4096 * 4096);
  std::memset(page, 7, bytes);
  const auto registered =
      owned<RegisteredMemory>(device_, device_->register_host(page, bytes, HostAccess::read_write));
  const auto there = owned<DeviceMemory>(device_, device_->allocate(bytes));
  const auto stream = owned<OwnedStream>(device_, device_->create_stream());
  const auto event = owned<OwnedEvent>(device_, device_->create_event());
  std::vector<std::byte> back(bytes);
  ASSERT_TRUE(device_->copy_to_device(there.get(), page, bytes, stream.get()).ok());
  ASSERT_TRUE(device_->copy_to_host(back.data(), there.get(), bytes, stream.get()).ok());
  ASSERT_TRUE(device_->record(event.get(), stream.get()).ok());
  ASSERT_TRUE(device_->wait(event.get()).ok());
  EXPECT_EQ(std::memcmp(back.data(), page, bytes), 0);
}

/// Of a program of its own, since a context does not survive it: the first failure and what follows
/// it are told as the loss of the device, and so is a launch that meets it before any other call of
/// the same user. 0: as they should be.
int lose_the_device() {
  const auto device = open_device("cuda:0");
  const auto other = open_device("cuda:0");  // a user of the same context
  if (!device || !other || !(*other)->check()) return 2;
  const auto stream = own<OwnedStream>(*device, (*device)->create_stream());
  const auto event = own<OwnedEvent>(*device, (*device)->create_event());
  if (!stream || !event) return 3;
  const Normalization to = pictures_of(8, 8);
  const std::vector<Cut> cuts(1);
  const DeviceWork nowhere = normalizing(to, cuts, 4096, 8192);
  if (!(*device)->compute(nowhere, stream->get())) return 4;
  static_cast<void>((*device)->record(event->get(), stream->get()));
  const auto waited = (*device)->wait(event->get());
  const auto after = (*device)->allocate(1);
  const auto launched = (*other)->compute(nowhere, stream->get());
  if (waited || after || launched) return 5;
  std::fprintf(stderr, "%s\n", waited.error().message.c_str());
  if (waited.error().refusal != Refusal::lost || after.error().refusal != Refusal::lost) return 6;
  return launched.error().refusal == Refusal::lost ? 0 : 7;
}

TEST_F(OnGpuTest, AnAddressThatIsNoneLosesTheDevice) {
  if (!has_kernels()) GTEST_SKIP() << "nvcc was not there when this was built";
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  EXPECT_EXIT(_exit(lose_the_device()), testing::ExitedWithCode(0),
              "device cuda:0 is lost: .* says .*ILLEGAL_ADDRESS");
}

}  // namespace
}  // namespace brigade::cuda
