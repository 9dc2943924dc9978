// Against a driver without a GPU (fake_cuda/libcuda.cpp): the calls, their order, and each error.
#include "device/cuda_device.h"
#include "device/cuda_driver.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/device/fake_cuda/fake_cuda.h"
#include "tests/support/message_of.h"

namespace brigade {
namespace {

std::shared_ptr<CudaDevice> fake_device(const char* settings = "") {
  return CudaDevice::open(open_fake_cuda(settings).value(), 0).value();
}

TEST(CudaDriver, SaysWhyThereIsNoneWhyItIsTooOldAndWhyItDoesNotBegin) {
  EXPECT_EQ(message_of(CudaDriver::open(kCudaDriverMin, "libcuda_of_nowhere.so.1")),
            "no NVIDIA driver found: libcuda_of_nowhere.so.1: cannot open shared object file: No "
            "such file or directory; install it (`nvidia-smi` must list the GPUs); write `device: "
            "auto` to use the CPU without a GPU");
  EXPECT_EQ(message_of(CudaDriver::open(kCudaDriverMin, "libm.so.6")),
            "the NVIDIA driver libm.so.6 lacks cuInit: it is too old; install the driver of CUDA "
            "11.4 or later");
  EXPECT_EQ(message_of(open_fake_cuda("driver=12040", 13000)),
            "the NVIDIA driver supports CUDA 12.4, expected CUDA 13.0 or later; install a newer "
            "driver (`nvidia-smi` shows its version)");
  EXPECT_EQ(open_fake_cuda("driver=13000", 13000).value()->version(), 13000);
  EXPECT_EQ(message_of(open_fake_cuda("fail=cuInit:803")),
            "the NVIDIA driver does not start: CUDA_ERROR_SYSTEM_DRIVER_MISMATCH: the kernel "
            "module and libcuda.so.1 have different versions; restart the machine, or run the "
            "container on a host with the same version");
  EXPECT_EQ(message_of(open_fake_cuda("fail=cuInit:34")),
            "the NVIDIA driver does not start: CUDA error 34; check `nvidia-smi` and `dmesg`; "
            "write `device: auto` to use the CPU without a GPU");
}

TEST(CudaDevice, MustBeOneOfThoseThatAreThere) {
  const auto open = [](const char* settings, int index) {
    return message_of(CudaDevice::open(open_fake_cuda(settings).value(), index));
  };
  EXPECT_EQ(open("devices=0", 0),
            "device cuda:0: no visible GPU; check nvidia-smi and CUDA_VISIBLE_DEVICES");
  EXPECT_EQ(open("devices=1", 1), "device cuda:1: there is 1 GPU, cuda:0");
  EXPECT_EQ(open("devices=2", 2), "device cuda:2: there are 2 GPUs, cuda:0 to cuda:1");
  EXPECT_EQ(open("devices=2", 1), "no error");
}

TEST(CudaDevice, WhatOthersHaveOfItIsNoLoss) {
  const auto begin = [](const std::string& status) {
    return CudaDevice::open(
        open_fake_cuda(("fail=cuDevicePrimaryCtxRetain:" + status).c_str()).value(), 0);
  };
  const auto full = begin("2");
  EXPECT_EQ(message_of(full),
            "device cuda:0: cuDevicePrimaryCtxRetain returned CUDA_ERROR_OUT_OF_MEMORY; "
            "`nvidia-smi` shows which processes use its memory");
  EXPECT_EQ(full.error().refusal, Refusal::other);
  const auto taken = begin("46");
  EXPECT_EQ(
      message_of(taken),
      "device cuda:0: cuDevicePrimaryCtxRetain returned CUDA_ERROR_DEVICE_UNAVAILABLE; another "
      "process may use it exclusively (`nvidia-smi -q -d COMPUTE` shows the compute mode)");
  EXPECT_EQ(taken.error().refusal, Refusal::other);
  EXPECT_EQ(begin("700").error().refusal, Refusal::lost);
}

TEST(CudaDevice, GivesBackAllThatItTook) {
  {
    const auto device = fake_device();
    const auto memory = own<DeviceMemory>(device, device->allocate(10)).value();
    const auto pinned = own<PinnedMemory>(device, device->allocate_pinned(10)).value();
    const auto stream = own<OwnedStream>(device, device->create_stream()).value();
    const auto event = own<OwnedEvent>(device, device->create_event()).value();
    EXPECT_EQ(fake_cuda_left(), 5);  // and the context
  }
  EXPECT_EQ(fake_cuda_left(), 0);
}

TEST(CudaDevice, GivesBackWhatItMappedAndWhatItDidNotGetToMap) {
  constexpr std::uint64_t kBytes = 3 << 20;  // two pieces of the driver's
  for (const char* failing :
       {"", "fail=cuMemAddressReserve:2", "fail=cuMemMap:1", "fail=cuMemSetAccess:1",
        "fail=cuMemExportToShareableHandle:801", "fail=cuMemImportFromShareableHandle:1"}) {
    {
      const auto device = fake_device(failing);
      const auto fd = device->make_shared(kBytes);
      if (fd) {
        const auto mapped = own<SharedDeviceMemory>(
            device, device->map_shared(fd->get(), kBytes, HostAccess::read_write));
        EXPECT_EQ(mapped.ok(), std::string(failing).empty()) << failing;
      }
      EXPECT_EQ(fd.ok(), std::string(failing).find("Export") == std::string::npos) << failing;
    }
    EXPECT_EQ(fake_cuda_left(), 0) << failing;
  }
}

TEST(CudaDevice, SharesMemoryOnlyWhereTheDriverDoes) {
  EXPECT_EQ(message_of(fake_device("shares=0")->make_shared(1)),
            "device cuda:0: it cannot share memory between processes by descriptors; omit `memory: "
            "device`");
  EXPECT_EQ(message_of(fake_device("memory=1048576")->make_shared(1)),
            "device cuda:0 is out of memory: 2.0 MiB requested, 512.0 KiB of 1.0 MiB free; use a "
            "smaller batch or `prefetch`; `nvidia-smi` shows which processes use its memory");
}

TEST(CudaDevice, MapsToBeReadOnlyWhereTheDriverCan) {
  for (const std::string settings : {"", "read_only_refused=1"}) {
    const auto device = fake_device(settings.c_str());
    const OwnedFd fd = device->make_shared(1).value();
    const auto mapped =
        own<SharedDeviceMemory>(device, device->map_shared(fd.get(), 1, HostAccess::read_only));
    ASSERT_TRUE(mapped.ok());
    EXPECT_EQ(fake_cuda_log(),
              settings.empty() ? "access read-only\n" : "access read-only\naccess read-write\n");
  }
}

TEST(CudaDevice, OutOfMemorySaysHowMuchThereIs) {
  const auto device = fake_device("memory=1048576");
  EXPECT_EQ(message_of(device->allocate(2 << 20)),
            "device cuda:0 is out of memory: 2.0 MiB requested, 512.0 KiB of 1.0 MiB free; use a "
            "smaller batch or `prefetch`; `nvidia-smi` shows which processes use its memory");
}

TEST(CudaDevice, PinningThatIsRefusedNamesTheLimit) {
  const auto device = fake_device("fail=cuMemHostRegister_v2:304");
  std::vector<std::byte> bytes(4096);
  const std::string text =
      message_of(device->register_host(bytes.data(), bytes.size(), HostAccess::read_only));
  EXPECT_EQ(
      text.substr(0, text.find("; this")),
      "device cuda:0: cuMemHostRegister returned CUDA_ERROR_OPERATING_SYSTEM when pinning 4.0 KiB");
  EXPECT_NE(text.find("this process may lock"), std::string::npos);
  const auto tight = fake_device("fail=cuMemHostAlloc:2");
  EXPECT_NE(
      message_of(tight->allocate_pinned(4096)).find("cannot allocate 4.0 KiB of pinned memory"),
      std::string::npos);
}

TEST(CudaDevice, AFaultOfACopyLosesItForEveryLaterCall) {
  const auto device = fake_device("fail=cuEventQuery:700");
  const auto memory = own<DeviceMemory>(device, device->allocate(10)).value();
  const auto event = own<OwnedEvent>(device, device->create_event()).value();
  const std::vector<std::byte> bytes(10);
  ASSERT_TRUE(device->copy_to_device(memory.get(), bytes.data(), 10, nullptr).ok());
  ASSERT_TRUE(device->record(event.get(), nullptr).ok());
  const std::string lost =
      "device cuda:0 is lost: cuEventQuery returned CUDA_ERROR_ILLEGAL_ADDRESS; look for the cause "
      "in "
      "the kernel log (`dmesg | grep Xid`)";
  EXPECT_EQ(message_of(device->passed(event.get())), lost);
  EXPECT_EQ(message_of(device->copy_to_device(memory.get(), bytes.data(), 11, nullptr)), lost);
}

TEST(CudaDevice, ALossThatALaunchMeetsFirstIsOneAndAMistakeOfALaunchIsNone) {
  const auto launch = [](const char* settings) {
    const auto refused = [](DeviceStream) -> Result<void> {
      return Error{"kernel k: out of luck"};
    };
    return fake_device(settings)->compute({refused, {}}, nullptr);
  };
  const auto mistake = launch("");
  ASSERT_FALSE(mistake);
  EXPECT_EQ(mistake.error().message, "kernel k: out of luck");
  EXPECT_EQ(mistake.error().refusal, Refusal::other);
  for (const std::string call : {"cuEventCreate", "cuEventRecord", "cuEventQuery"}) {
    const auto lost = launch(concat("fail=", call, ":700").c_str());
    ASSERT_FALSE(lost);
    EXPECT_EQ(lost.error().message,
              concat("device cuda:0 is lost: ", call,
                     " returned CUDA_ERROR_ILLEGAL_ADDRESS; look for the cause "
                     "in the kernel log (`dmesg | grep Xid`)"));
    EXPECT_EQ(lost.error().refusal, Refusal::lost);
    EXPECT_EQ(fake_cuda_left(), 0);
  }
}

TEST(CudaDevice, AMistakeIsNoLoss) {
  const auto device = fake_device();
  const auto memory = own<DeviceMemory>(device, device->allocate(10)).value();
  const std::vector<std::byte> bytes(20);
  EXPECT_EQ(message_of(device->copy_to_device(memory.get(), bytes.data(), 20, nullptr)),
            "device cuda:0: cuMemcpyHtoDAsync returned CUDA_ERROR_INVALID_VALUE");
  EXPECT_TRUE(device->copy_to_device(memory.get(), bytes.data(), 10, nullptr).ok());
}

TEST(CudaDevice, LeavesTheThreadsContextAsItWas) {
  const auto device = fake_device();
  using Pop = int(void**);
  void* context = nullptr;
  EXPECT_NE(fake_cuda_function<Pop>("cuCtxPopCurrent_v2")(&context), 0);  // none, as before
}

}  // namespace
}  // namespace brigade
