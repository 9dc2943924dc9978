#include "device/open_device.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

#include "device/host_device.h"
#include "tests/device/fake_cuda/fake_cuda.h"
#include "tests/support/message_of.h"

namespace brigade {
namespace {

int chosen(const char* wanted, int replica, int replicas, int gpus) {
  return choose_gpu(wanted, replica, replicas, gpus).value().value_or(-1);
}

TEST(ChooseGpu, TakesTurnsUnlessOneIsNamed) {
  unsetenv("LOCAL_RANK");
  EXPECT_EQ(chosen("cpu", 0, 1, 8), -1);
  EXPECT_EQ(chosen("auto", 0, 1, 0), -1);
  EXPECT_EQ(chosen("auto", 3, 4, 2), 1);
  EXPECT_EQ(chosen("cuda:5", 0, 1, 8), 5);
  setenv("LOCAL_RANK", "3", 1);
  EXPECT_EQ(chosen("cuda", 1, 2, 8), 7);
  setenv("LOCAL_RANK", "first", 1);
  EXPECT_EQ(chosen("cuda", 1, 2, 8), 1);
  unsetenv("LOCAL_RANK");
}

TEST(ChooseGpu, RefusesWhatCannotBe) {
  EXPECT_EQ(message_of(choose_gpu("cuda", 0, 1, 0)),
            "device cuda: no visible GPU; check nvidia-smi and CUDA_VISIBLE_DEVICES; write device: "
            "auto to use the CPU without a GPU");
  for (const char* const bad : {"gpu", "cuda:", "cuda:-1", "cuda:1x"})
    EXPECT_EQ(message_of(choose_gpu(bad, 0, 1, 1)),
              std::string("device ") + bad + ": expected auto, cpu, cuda or cuda:N");
}

TEST(WhyNoGpu, IsTheDriverOrThatNoneIsVisible) {
  setenv("FAKE_CUDA", "driver=12080 devices=0", 1);
  EXPECT_EQ(why_no_gpu(12000, fake_cuda_path()),
            "no visible GPU; check nvidia-smi and CUDA_VISIBLE_DEVICES");
  setenv("FAKE_CUDA", "driver=12080", 1);
  EXPECT_EQ(why_no_gpu(13000, fake_cuda_path()),
            "the NVIDIA driver supports CUDA 12.8, expected CUDA 13.0 or later; install a newer "
            "driver (`nvidia-smi` shows its version)");
  EXPECT_TRUE(why_no_gpu(13000, "libcuda_of_nowhere.so.1").starts_with(kNoCudaDriver));
}

TEST(OpenDevice, TheHostsIsAsItsVariableSays) {
  setenv(kHostDeviceVariable, "memory=100", 1);
  const auto device = open_device("host").value();
  EXPECT_EQ(device->name(), "host");
  EXPECT_FALSE(device->allocate(101).ok());
  setenv(kHostDeviceVariable, "memory", 1);
  EXPECT_FALSE(open_device("host").ok());
  unsetenv(kHostDeviceVariable);
}

TEST(OpenDevice, TheCpuIsNone) { EXPECT_EQ(open_device("cpu").value(), nullptr); }

}  // namespace
}  // namespace brigade
