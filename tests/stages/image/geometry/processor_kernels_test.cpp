#include "stages/image/geometry/processor_kernels.h"

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <string>

namespace brigade {
namespace {

struct NamedKernels {
  const char* name;
};

TEST(ProcessorKernels, AreThePlainOnesAndThoseThatTheKernelOfTheMachineNames) {
  constexpr NamedKernels kBoth[] = {{"plain"}, {"AVX2"}};
  const auto found = kernels_of_this_processor(kBoth);
  std::ifstream file("/proc/cpuinfo");
  const std::string machine(std::istreambuf_iterator<char>(file), {});
  ASSERT_FALSE(machine.empty());
  ASSERT_EQ(found.size(), machine.find(" avx2") == machine.npos ? 1u : 2u);
  EXPECT_STREQ(found.front().name, "plain");
}

}  // namespace
}  // namespace brigade
