#include "transports/doorbell.h"

#include <gtest/gtest.h>

#include <memory>

namespace brigade {
namespace {

class Doorbell : public testing::Test {
 protected:
  std::uint32_t rings(int replica) { return bells_[replica].rings.load(); }

  std::unique_ptr<Bell<SystemPolicy>[]> bells_ { new Bell<SystemPolicy>[ kReplicasMax ] };
  Waiters<SystemPolicy> waiters_;
};

TEST_F(Doorbell, RingsExactlyWhoWaits) {
  for (int replica : {0, 63, 64, 255}) set_waiter(waiters_, replica);
  wake_waiters(waiters_, bells_.get(), kWaiterWords);
  for (int replica = 0; replica < kReplicasMax; ++replica) {
    const bool waits = replica == 0 || replica == 63 || replica == 64 || replica == 255;
    EXPECT_EQ(rings(replica), waits ? 1u : 0u) << replica;
  }
}

TEST_F(Doorbell, LooksOnlyAtTheWordsInUse) {
  set_waiter(waiters_, 3);
  set_waiter(waiters_, 64);
  wake_waiters(waiters_, bells_.get(), 1);
  EXPECT_EQ(rings(3), 1u);
  EXPECT_EQ(rings(64), 0u);
}

TEST_F(Doorbell, ABitStaysUntilItsOwnerClearsIt) {
  set_waiter(waiters_, 5);
  set_waiter(waiters_, 6);
  wake_waiters(waiters_, bells_.get(), kWaiterWords);
  wake_waiters(waiters_, bells_.get(), kWaiterWords);
  EXPECT_EQ(rings(5), 2u);
  clear_waiter(waiters_, 5);
  wake_waiters(waiters_, bells_.get(), kWaiterWords);
  EXPECT_EQ(rings(5), 2u);
  EXPECT_EQ(rings(6), 3u);
}

}  // namespace
}  // namespace brigade
