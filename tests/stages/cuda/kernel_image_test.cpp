#include "stages/cuda/kernel_image.h"

#include <gtest/gtest.h>

#include <cstring>

#include <brigade/cuda.h>

namespace brigade::cuda {
namespace {

TEST(KernelImageTest, IsAFatBinaryWhereThereIsOne) {
  if (!has_kernels()) GTEST_SKIP() << "nvcc was not there when this was built";
  std::uint32_t magic = 0;
  std::memcpy(&magic, kernel_image().data(), sizeof magic);
  EXPECT_EQ(magic, 0xba55ed50u);
  const std::string_view text(reinterpret_cast<const char*>(kernel_image().data()),
                              kernel_image().size());
  for (const char* kernel :
       {"brigade_normalize_f32", "brigade_normalize_f16", "brigade_normalize_bf16"})
    EXPECT_NE(text.find(kernel), text.npos) << kernel;
}

}  // namespace
}  // namespace brigade::cuda
