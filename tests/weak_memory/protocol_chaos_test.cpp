// The larger lines, and wider bounds: minutes each.

#include "tests/weak_memory/line_checks.h"

namespace brigade::weak_memory {
namespace {

constexpr std::uint64_t kStatesMax = 150'000'000;

class EveryOldValueOfMore : public testing::TestWithParam<LineCase> {};

TEST_P(EveryOldValueOfMore, HoldsEveryProperty) {
  if (!kFastBuild) GTEST_SKIP() << "slow build";
  expect_good(GetParam(), kStatesMax);
}

// What the small lines would do with: also within wider bounds.
TEST(WeakerOrder, IsEnoughWhereTheOrderIsSaidToBeStrongerThanNeeded) {
  if (!kFastBuild) GTEST_SKIP() << "slow build";
  for (const WeakerCase& weaker : weaker_orders()) {
    if (weaker.noticed) continue;
    for (const LineCase& line : small_lines()) {
      const model::Report report = explore(line, weaker.weaker, kStatesMax, model::Trace::kAsFound);
      EXPECT_EQ(report.violation, "") << name_of(weaker.weaker.access) << " in " << line.name;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Lines, EveryOldValueOfMore, testing::ValuesIn(large_lines()));

}  // namespace
}  // namespace brigade::weak_memory
