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

INSTANTIATE_TEST_SUITE_P(Lines, EveryOldValueOfMore, testing::ValuesIn(large_lines()));

// An order that is stronger than the small lines need is so within wider bounds, too.
class WeakerIsEnough : public testing::TestWithParam<WeakerCase> {};

TEST_P(WeakerIsEnough, HoldsEveryProperty) {
  if (!kFastBuild) GTEST_SKIP() << "slow build";
  if (GetParam().noticed) GTEST_SKIP() << "needed: see weak_memory_test";
  for (const LineCase& line : small_lines()) {
    const model::Report report =
        explore(line, GetParam().weaker, kStatesMax, model::Trace::kAsFound);
    EXPECT_EQ(report.violation, "") << line.name;
  }
}

INSTANTIATE_TEST_SUITE_P(Orders, WeakerIsEnough, testing::ValuesIn(weaker_orders()));

}  // namespace
}  // namespace brigade::weak_memory
