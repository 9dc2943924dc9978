#include "pipeline/plan/arithmetic.h"

#include <gtest/gtest.h>

namespace brigade {
namespace {

TEST(SaturatingArithmetic, IsOrdinaryWhereItFits) {
  EXPECT_EQ(add_saturating(2, 3), 5u);
  EXPECT_EQ(multiply_saturating(6, 7), 42u);
  EXPECT_EQ(multiply_saturating(6, 0), 0u);
  EXPECT_EQ(round_up(10, 4), 12u);
  EXPECT_EQ(round_up(12, 4), 12u);
  EXPECT_EQ(round_up(0, 4), 0u);
  EXPECT_EQ(lcm_saturating(12, 18), 36u);
}

TEST(SaturatingArithmetic, SticksAtTheTop) {
  EXPECT_EQ(add_saturating(kSaturated - 1, 1), kSaturated);
  EXPECT_EQ(add_saturating(kSaturated, 1), kSaturated);
  EXPECT_EQ(multiply_saturating(std::uint64_t{1} << 32, std::uint64_t{1} << 32), kSaturated);
  EXPECT_EQ(round_up(kSaturated, 4096), kSaturated);
  EXPECT_EQ(round_up(kSaturated - 5, 4096), kSaturated);
  EXPECT_EQ(lcm_saturating(kSaturated, 2), kSaturated);
}

}  // namespace
}  // namespace brigade
