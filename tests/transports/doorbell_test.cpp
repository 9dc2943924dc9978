#include "transports/doorbell.h"

#include <gtest/gtest.h>

#include <memory>

namespace brigade {
namespace {

class Doorbell : public testing::TestWithParam<WakeOrder> {
 protected:
  std::uint32_t rings(int replica) { return bells_[replica].rings.load(); }
  Waker<SystemPolicy> waker(int words = kWaiterWords) { return {bells_.get(), words, GetParam()}; }

  std::unique_ptr<Bell<SystemPolicy>[]> bells_ { new Bell<SystemPolicy>[ kReplicasMax ] };
  Waiters<SystemPolicy> waiters_;
};

TEST_P(Doorbell, RingsExactlyWhoWaits) {
  for (int replica : {0, 63, 64, 255}) set_waiter(waiters_, replica);
  waker().moved(waiters_, 1);
  for (int replica = 0; replica < kReplicasMax; ++replica) {
    const bool waits = replica == 0 || replica == 63 || replica == 64 || replica == 255;
    EXPECT_EQ(rings(replica), waits ? 1u : 0u) << replica;
  }
}

TEST_P(Doorbell, RingsASleeperWhenTheMarkIsWhereItCanGoOn) {
  bells_[1].until = 64;
  bells_[2].until = 96;
  for (int replica : {1, 2}) set_waiter(waiters_, replica);
  waker().moved(waiters_, 63);
  EXPECT_EQ(rings(1), 0u);
  waker().moved(waiters_, 64);
  EXPECT_EQ(rings(1), 1u);
  EXPECT_EQ(rings(2), 0u);
  waker().moved(waiters_, 96);
  EXPECT_EQ(rings(2), 1u);
}

TEST_P(Doorbell, LooksOnlyAtTheWordsInUse) {
  set_waiter(waiters_, 3);
  set_waiter(waiters_, 64);
  waker(1).moved(waiters_, 1);
  EXPECT_EQ(rings(3), 1u);
  EXPECT_EQ(rings(64), 0u);
}

TEST_P(Doorbell, ABitStaysUntilItsOwnerClearsIt) {
  set_waiter(waiters_, 5);
  set_waiter(waiters_, 6);
  waker().moved(waiters_, 1);
  waker().moved(waiters_, 2);
  EXPECT_EQ(rings(5), 2u);
  clear_waiter(waiters_, 5);
  waker().moved(waiters_, 3);
  EXPECT_EQ(rings(5), 2u);
  EXPECT_EQ(rings(6), 3u);
}

INSTANTIATE_TEST_SUITE_P(Orders, Doorbell,
                         testing::Values(WakeOrder::by_finisher, WakeOrder::by_sleeper),
                         [](const auto& order) {
                           return order.param == WakeOrder::by_sleeper ? "by_sleeper"
                                                                       : "by_finisher";
                         });

}  // namespace
}  // namespace brigade
