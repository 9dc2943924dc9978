// claim, finish, advance, wait and wake as they stand in transports/, under C++20's memory model:
// every order of steps and every old value that a load may still read, within bounds. See
// docs/MODEL_CHECKING.md.

#include "tests/weak_memory/line_checks.h"

namespace brigade::weak_memory {
namespace {

constexpr std::uint64_t kStatesMax = 8'000'000;
constexpr std::uint64_t kStatesMaxSlowBuild = 100'000;

class EveryOldValue : public testing::TestWithParam<LineCase> {};

TEST_P(EveryOldValue, HoldsEveryProperty) {
  if (!kFastBuild && GetParam().states_min > kStatesMaxSlowBuild) GTEST_SKIP() << "slow build";
  expect_good(GetParam(), kStatesMax);
}

INSTANTIATE_TEST_SUITE_P(Lines, EveryOldValue, testing::ValuesIn(small_lines()));

std::string first_violation(const Weaker& weaker) {
  for (const LineCase& line : probe_lines()) {
    const model::Report report = explore(line, weaker, kStatesMax, model::Trace::kAsFound);
    if (!report.violation.empty()) return report.violation;
  }
  return "";
}

// Each order that must not be weaker is noticed when it is; of the others this says that the lines
// looked at would do with less.
TEST(WeakerOrder, IsNoticedWhereTheOrderIsNeeded) {
  if (!kFastBuild) GTEST_SKIP() << "slow build";
  for (const WeakerCase& weaker : weaker_orders()) {
    const std::string violation = first_violation(weaker.weaker);
    const char* name = name_of(weaker.weaker.access);
    std::printf("%-14s %d  %s\n", name, static_cast<int>(weaker.weaker.order), violation.c_str());
    EXPECT_EQ(violation.find("limit"), std::string::npos) << name << ": " << violation;
    EXPECT_EQ(!violation.empty(), weaker.noticed)
        << name << ", order " << static_cast<int>(weaker.weaker.order) << ": " << violation;
  }
}

}  // namespace
}  // namespace brigade::weak_memory
