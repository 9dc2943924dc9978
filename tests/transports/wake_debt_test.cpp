#include "transports/wake_debt.h"

#include <gtest/gtest.h>

namespace brigade {
namespace {

class WakeDebtOfFour : public testing::Test {
 protected:
  WakeDebtOfFour() { set_waiter(mark_.waiters, 0); }
  bool rung() { return bell_.rings.exchange(0) != 0; }

  Mark<SystemPolicy> mark_;
  Bell<SystemPolicy> bell_;
  WakeDebt<SystemPolicy> debt_{mark_, &bell_, 1, 4};
};

TEST_F(WakeDebtOfFour, IsPutOffUntilABoundaryIsCrossed) {
  debt_.add({0, 2}, kNever, {});
  EXPECT_FALSE(rung());
  EXPECT_TRUE(debt_.owes());
  debt_.add({2, 4}, kNever, {});
  EXPECT_TRUE(rung());
  EXPECT_FALSE(debt_.owes());
}

TEST_F(WakeDebtOfFour, StaysWhereAGlanceShowsNobody) {  // who may be about to lie down
  clear_waiter(mark_.waiters, 0);
  debt_.add({0, 4}, kNever, {});
  EXPECT_TRUE(debt_.owes());
  set_waiter(mark_.waiters, 0);
  debt_.add({4, 8}, kNever, {});
  EXPECT_TRUE(rung());
}

TEST_F(WakeDebtOfFour, ALargeStepCrossesWhereverItStarts) {
  debt_.add({1, 6}, kNever, {});
  EXPECT_TRUE(rung());
  debt_.add({6, 10}, kNever, {});
  EXPECT_TRUE(rung());
}

TEST_F(WakeDebtOfFour, TheEndIsABoundary) {
  debt_.add({4, 6}, 6, {});
  EXPECT_TRUE(rung());
}

TEST_F(WakeDebtOfFour, NothingMovedNothingOwed) {
  debt_.add({4, 4}, 4, {100 * kWakeDebtNs, 100 * kSlowTaskNs});
  EXPECT_FALSE(debt_.owes());
  debt_.pay();
  EXPECT_FALSE(rung());
}

TEST_F(WakeDebtOfFour, IsPaidOnDemand) {
  debt_.add({0, 1}, kNever, {});
  debt_.pay();
  EXPECT_TRUE(rung());
  debt_.pay();
  EXPECT_FALSE(rung());
}

TEST_F(WakeDebtOfFour, ASlowTaskPaysAtOnce) {
  debt_.add({0, 1}, kNever, {1000, kSlowTaskNs + 1});
  EXPECT_TRUE(rung());
}

TEST_F(WakeDebtOfFour, AnOldDebtIsPaidAtTheNextFinishEvenIfNothingMoved) {
  debt_.add({0, 1}, kNever, {1000, 10});
  debt_.add({1, 2}, kNever, {1000 + kWakeDebtNs, 10});
  EXPECT_FALSE(rung());
  debt_.add({2, 2}, kNever, {1001 + kWakeDebtNs, 10});
  EXPECT_TRUE(rung());
}

}  // namespace
}  // namespace brigade
