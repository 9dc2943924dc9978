// docs/PROTOCOL.md's edge protocol in every reachable state of small graphs: every interleaving,
// death after every step, the repair racing the living. See docs/MODEL_CHECKING.md.

#include "tests/model/protocol.h"

#include "tests/model/model_checks.h"

namespace brigade::model {
namespace {

constexpr uint64_t kStatesMax = 12'000'000;

class EveryState : public testing::TestWithParam<Scenario> {};

TEST_P(EveryState, HoldsEveryProperty) {
  if (too_large_for_this_build(GetParam())) GTEST_SKIP() << "too many states for this build";
  expect_every_property_holds(GetParam(), kStatesMax);
}

INSTANTIATE_TEST_SUITE_P(Protocol, EveryState, testing::ValuesIn(small_scenarios()));

class Mistake : public testing::TestWithParam<Scenario> {};

TEST_P(Mistake, IsNoticed) {
  if (too_large_for_this_build(GetParam())) GTEST_SKIP() << "too many states for this build";
  const Report report = check(GetParam(), kStatesMax, Trace::kAsFound);
  print(GetParam(), report);
  EXPECT_NE(report.violation, "") << "a checker that does not notice this mistake proves nothing";
  EXPECT_EQ(report.violation.find("limit"), std::string::npos) << report.violation;
}

// The same without the reductions: they hide nothing.
TEST_P(Mistake, IsNoticedInEveryOrder) {
  if (!kFastBuild) GTEST_SKIP() << "too many states for this build";
  const Report report = check(GetParam(), kStatesMax, Trace::kAsFound, Protocol::Search::kFull);
  EXPECT_NE(report.violation, "");
  EXPECT_EQ(report.violation.find("limit"), std::string::npos) << report.violation;
}

INSTANTIATE_TEST_SUITE_P(Protocol, Mistake, testing::ValuesIn(negative_controls()));

TEST(Reduction, KeepsTheVerdictOfSmallScenarios) {
  if (!kFastBuild) GTEST_SKIP() << "too many states for this build";
  constexpr uint64_t kSmall = 150'000;
  int compared = 0;
  for (const Scenario& scenario : small_scenarios()) {
    if (scenario.states_min > kSmall) continue;
    const Report full = check(scenario, kStatesMax, Trace::kAsFound, Protocol::Search::kFull);
    const Report reduced = check(scenario, kStatesMax, Trace::kAsFound);
    EXPECT_EQ(full.violation, "") << scenario.name;
    EXPECT_EQ(reduced.violation, "") << scenario.name;
    EXPECT_LT(reduced.states, full.states) << scenario.name;
    ++compared;
  }
  EXPECT_GE(compared, 10);
}

TEST(Trace, TellsWhoDidWhat) {
  Scenario scenario = negative_controls().front();
  const Report report = check(scenario, kStatesMax, Trace::kShortest);
  ASSERT_EQ(scenario.fault, Fault::kWindowTooLarge);
  ASSERT_FALSE(report.trace.empty());
  EXPECT_EQ(report.trace.back().substr(0, 35), "src.0: begin to read and write slot");
}

}  // namespace
}  // namespace brigade::model
