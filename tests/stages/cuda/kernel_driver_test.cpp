// How kernels are launched, on a driver of the test's own. Where there was nvcc it runs them, too:
// thread by thread, in the code that nvcc has made of them for the host.

#include "stages/cuda/kernel_driver.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <brigade/text.h>
#include "stages/cuda/kernel_image.h"
#include "stages/cuda/normalize.h"
#include "tests/stages/cuda/made_pictures.h"
#ifdef BRIGADE_HAS_NVCC
#include "tests/stages/cuda/kernel_grid.h"
#endif

namespace brigade::cuda {
namespace {

/// What the driver was asked for; its answers.
struct Asked {
  int loads = 0;
  int load_status = 0;
  int launch_status = 0;
  std::vector<std::string> launches;  // "brigade_normalize_f32 4x256 by 256"
  std::vector<std::string> kernels;
  bool runs = false;
};
Asked asked;

KernelDriver made_driver() {
  KernelDriver driver;
  driver.library_load_data = [](void** library, const void*, void*, void**, unsigned, void*, void**,
                                unsigned) {
    ++asked.loads;
    *library = &asked;
    return asked.load_status;
  };
  driver.library_get_kernel = [](void** kernel, void* library, const char* name) {
    EXPECT_EQ(library, &asked);
    asked.kernels.emplace_back(name);
    *kernel = &asked.kernels.back();
    return 0;
  };
  driver.launch_kernel = [](void*, unsigned x, unsigned y, unsigned, unsigned threads, unsigned,
                            unsigned, unsigned, void* stream, void** arguments, void**) {
    asked.launches.push_back(
        concat(asked.kernels.back(), ' ', x, 'x', y, " by ", threads, stream ? " there" : ""));
#ifdef BRIGADE_HAS_NVCC
    if (asked.runs) {
      EXPECT_TRUE(run_kernel_grid(asked.kernels.back().c_str(), x, y, threads, arguments));
    }
#endif
    static_cast<void>(arguments);
    return asked.launch_status;
  };
  driver.get_error_string = [](int, const char** text) {
    *text = "out of luck";
    return 0;
  };
  return driver;
}

const std::byte kImage[16]{};

TEST(KernelsTest, AreLoadedOnceAndLaunchedForSoManyPicturesAtOnce) {
  asked = {};
  Kernels kernels(made_driver(), kImage);
  const Normalization to = pictures_of(60, 70);
  const std::vector<Cut> cuts(600);
  int stream = 0;
  // Addresses on a device, at which nobody looks here.
  const auto* const pictures = reinterpret_cast<const std::uint8_t*>(std::uintptr_t{1} << 30);
  auto* const values = reinterpret_cast<void*>(std::uintptr_t{2} << 30);
  ASSERT_TRUE(launch_normalize(kernels, to, cuts, pictures, values, &stream).ok());
  EXPECT_EQ(asked.loads, 1);
  EXPECT_THAT(asked.launches, testing::ElementsAre("brigade_normalize_f32 2x256 by 256 there",
                                                   "brigade_normalize_f32 2x256 by 256 there",
                                                   "brigade_normalize_f32 2x88 by 256 there"));
}

TEST(KernelsTest, WhatTheDriverRefusesIsALine) {
  asked = {};
  asked.load_status = 209;
  Kernels kernels(made_driver(), kImage);
  const std::vector<Cut> cuts(1);
  Result<void> done;
  for (const std::size_t pictures : {0, 1}) {  // none: of a stage that opens
    done = launch_normalize(kernels, pictures_of(4, 4), std::span(cuts).first(pictures), nullptr,
                            nullptr, nullptr);
    ASSERT_FALSE(done.ok());
    EXPECT_EQ(done.error().message,
              "the NVIDIA driver cannot load the kernels: out of luck (CUDA error 209)");
  }
  asked.load_status = 0;
  asked.launch_status = 700;
  done = launch_normalize(kernels, pictures_of(4, 4), cuts, nullptr, nullptr, nullptr);
  ASSERT_FALSE(done.ok());
  EXPECT_EQ(done.error().message, "kernel brigade_normalize_f32: out of luck (CUDA error 700)");
}

TEST(KernelsTest, ComputeWhatTheCpuDoesToTheBit) {
#ifndef BRIGADE_HAS_NVCC
  GTEST_SKIP() << "nvcc was not there when this was built";
#endif
  ASSERT_TRUE(has_kernels());
  Kernels kernels(made_driver(), kernel_image());
  for (const DType dtype : {f32, f16, bf16})
    for (const int orders : {0, 1, 2, 3}) {
      asked = {};
      asked.runs = true;
      const KernelCase one(dtype, orders, 259, 3);  // more than one launch
      std::vector<std::byte> by_kernel(one.by_cpu.size());
      ASSERT_TRUE(
          launch_normalize(kernels, one.to, one.cuts, one.levels.data(), by_kernel.data(), nullptr)
              .ok());
      EXPECT_EQ(asked.launches.size(), 2u);
      EXPECT_TRUE(one.by_cpu == by_kernel) << dtype_name(dtype) << ' ' << orders;
      by_kernel[100] ^= std::byte{1};
      EXPECT_FALSE(one.by_cpu == by_kernel);
    }
}

}  // namespace
}  // namespace brigade::cuda
