// The larger lines, and wider bounds: minutes each.

#include "tests/weak_memory/line_checks.h"

namespace brigade::weak_memory {
namespace {

constexpr std::uint64_t kStatesMax = 150'000'000;

class EveryOldValueOfMore : public testing::TestWithParam<LineCase> {};

TEST_P(EveryOldValueOfMore, HoldsEveryProperty) {
  if (!kFastBuild) GTEST_SKIP() << "slow build";
  LineCase line = GetParam();
  line.states_min = 0;  // of one order
  for (const WakeOrder order : {WakeOrder::by_sleeper, WakeOrder::by_finisher}) {
    line.order = order;
    expect_good(line, kStatesMax);
  }
}

INSTANTIATE_TEST_SUITE_P(Lines, EveryOldValueOfMore, testing::ValuesIn(large_lines()));

INSTANTIATE_TEST_SUITE_P(Supervised, EveryOldValueOfMore, testing::ValuesIn(supervised_lines()));

// An order that is stronger than the small lines need is so within wider bounds, too.
class WeakerIsEnough : public testing::TestWithParam<WeakerCase> {
 protected:
  static void look(WakeOrder order) {
    if (!kFastBuild) GTEST_SKIP() << "slow build";
    if (GetParam().noticed) GTEST_SKIP() << "needed: see weak_memory_test";
    for (LineCase& line : small_lines()) {
      if (line.order == WakeOrder::by_finisher) continue;  // they are among the others
      line.order = order;
      const Report report = explore(line, GetParam().weaker, kStatesMax, Trace::kAsFound);
      EXPECT_EQ(report.violation, "") << line.name;
    }
  }
};

TEST_P(WeakerIsEnough, WhereSleepersPay) { look(WakeOrder::by_sleeper); }

INSTANTIATE_TEST_SUITE_P(Orders, WeakerIsEnough,
                         testing::ValuesIn(weaker_orders(WakeOrder::by_sleeper)));

class WeakerIsEnoughToo : public WeakerIsEnough {};

TEST_P(WeakerIsEnoughToo, WhereFinishersPay) { look(WakeOrder::by_finisher); }

INSTANTIATE_TEST_SUITE_P(Orders, WeakerIsEnoughToo,
                         testing::ValuesIn(weaker_orders(WakeOrder::by_finisher)));

}  // namespace
}  // namespace brigade::weak_memory
