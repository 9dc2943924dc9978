#include "device/pinning_kernel.h"

#include <gtest/gtest.h>

namespace brigade {
namespace {

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
