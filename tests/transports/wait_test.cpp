#include "transports/wait.h"
#include "transports/attempt.h"
#include "transports/doorbell.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "transports/fault_points.h"

namespace brigade {
namespace {

/// Its sleep is a callback of the test.
struct ScriptedPolicy {
  template <class T>
  using Atomic = std::atomic<T>;

  inline static std::function<void()> on_sleep = [] {};
  inline static std::function<void(std::uint32_t)> on_sleep_expecting = [](std::uint32_t) {};

  inline static std::function<void()> on_barrier = [] {};

  static void point(FaultPoint) {}
  static void sleep(std::atomic<std::uint32_t>&, std::uint32_t expected) {
    on_sleep_expecting(expected);
    on_sleep();
  }
  static void wake(std::atomic<std::uint32_t>&) {}
  static void relax() {}
  static void barrier_everywhere() { on_barrier(); }
  static void keep_order() {}
};

using P = ScriptedPolicy;
using Found = Attempt<P>;

class ClaimOrWait : public testing::Test {
 protected:
  ClaimOrWait() {
    control_.doorbells = doorbells_.get();
    control_.wake_order = WakeOrder::by_sleeper;
    P::on_sleep = [this] { ++sleeps_; };
    P::on_barrier = [this] { ++barriers_; };
  }
  ~ClaimOrWait() override {
    P::on_sleep = [] {};
    P::on_barrier = [] {};
  }

  /// Each attempt finds the next of `script`.
  Found wait(std::vector<Found> script, int spins = 0) {
    attempts_ = 0;
    return claim_or_wait<P>(
        control_, 70, spins, [&] { return script.at(attempts_++); }, [&] { ++announced_; });
  }
  Found blocked(Watermark<P>& watermark, std::uint64_t until = 0) {
    return {Look::blocked, 0, &watermark, Cause::input, until};
  }
  bool has_bit(Watermark<P>& watermark) { return (watermark.waiters.bits[1] >> 6 & 1) != 0; }

  Watermark<P> watermark_;
  std::unique_ptr<Doorbell<P>[]> doorbells_ { new Doorbell<P>[ 71 ] };
  Doorbell<P>& doorbell_ = doorbells_[70];
  Control<P> control_;
  const Found claimed_{Look::claimed, 9};
  const Found ended_{Look::ended};
  std::size_t attempts_ = 0;
  int sleeps_ = 0;
  int barriers_ = 0;
  int announced_ = 0;  // sleeps, before the first of a wait
};

TEST_F(ClaimOrWait, PassesTheBarrierBetweenItsBitAndItsLastLook) {
  P::on_barrier = [&] {
    EXPECT_TRUE(has_bit(watermark_));
    EXPECT_EQ(doorbell_.until, 48u);
    EXPECT_EQ(attempts_, 1u);
    EXPECT_EQ(announced_, 1);
    ++barriers_;
  };
  P::on_sleep = [&] {
    EXPECT_EQ(barriers_, 1);
    EXPECT_TRUE(has_bit(watermark_));
    ++sleeps_;
  };
  wait({blocked(watermark_, 48), blocked(watermark_, 48), claimed_});
  EXPECT_EQ(sleeps_, 1);
}

TEST_F(ClaimOrWait, LeavesTheBarrierToFinishersWhereTheGraphSaysSo) {
  control_.wake_order = WakeOrder::by_finisher;
  wait({blocked(watermark_), blocked(watermark_), claimed_});
  EXPECT_EQ(sleeps_, 1);
  EXPECT_EQ(barriers_, 0);
}

TEST_F(ClaimOrWait, DoesNotSleepWhereLessWouldDoThanItHasSaid) {  // an end was lowered
  wait({blocked(watermark_, 48), blocked(watermark_, 32), blocked(watermark_, 32), claimed_});
  EXPECT_EQ(sleeps_, 1);
  EXPECT_EQ(doorbell_.until, 32u);
  wait({blocked(watermark_, 48), blocked(watermark_, 64),
        claimed_});  // to be woken too early does no harm
  EXPECT_EQ(sleeps_, 2);
  EXPECT_EQ(doorbell_.until, 48u);
}

TEST_F(ClaimOrWait, SpinsAsOftenAsItMay) {
  EXPECT_EQ(wait({blocked(watermark_), blocked(watermark_), claimed_}, 2).look, Look::claimed);
  EXPECT_EQ(sleeps_, 0);
  EXPECT_EQ(announced_, 0);  // it never stopped working
  EXPECT_EQ(wait({blocked(watermark_), ended_}, 2).look, Look::ended);
  EXPECT_EQ(announced_, 0);
}

class Ringing : public testing::TestWithParam<WakeOrder> {
 protected:
  std::uint32_t rings(int replica) { return doorbells_[replica].rings.load(); }
  Waker<SystemPolicy> waker(int words = kWaiterWords) {
    return {doorbells_.get(), words, GetParam()};
  }

  std::unique_ptr<Doorbell<SystemPolicy>[]> doorbells_ {
    new Doorbell<SystemPolicy>[ kReplicasMax ]
  };
  Waiters<SystemPolicy> waiters_;
};

TEST_P(Ringing, RingsExactlyWhoWaits) {
  for (int replica : {0, 63, 64, 255}) set_waiter(waiters_, replica);
  waker().moved(waiters_, 1);
  for (int replica = 0; replica < kReplicasMax; ++replica) {
    const bool waits = replica == 0 || replica == 63 || replica == 64 || replica == 255;
    EXPECT_EQ(rings(replica), waits ? 1u : 0u) << replica;
  }
}

// A task that is DONE beyond the watermark concerns only who takes tasks in any order.
TEST_P(Ringing, RingsForWhatIsDoneOnlyWhoSleepsForThat) {
  doorbells_[1].until = kAnyDone;
  doorbells_[2].until = kAnyMovement;
  for (int replica : {1, 2}) set_waiter(waiters_, replica);
  waker().moved(waiters_, kAnyDone);
  EXPECT_EQ(rings(1), 1u);
  EXPECT_EQ(rings(2), 0u);
}

TEST_P(Ringing, LooksOnlyAtTheWordsInUse) {
  set_waiter(waiters_, 3);
  set_waiter(waiters_, 64);
  waker(1).moved(waiters_, 1);
  EXPECT_EQ(rings(3), 1u);
  EXPECT_EQ(rings(64), 0u);
}

TEST_P(Ringing, RingsOnceForASleep) {
  set_waiter(waiters_, 5);
  set_waiter(waiters_, 6);
  waker().moved(waiters_, 1);
  waker().moved(waiters_, 2);  // nobody has been on a core in between
  EXPECT_EQ(rings(5), 1u);
  EXPECT_FALSE(clear_waiter(waiters_, 5));
  set_waiter(waiters_, 5);
  waker().moved(waiters_, 3);
  EXPECT_EQ(rings(5), 2u);
  EXPECT_EQ(rings(6), 1u);
}

INSTANTIATE_TEST_SUITE_P(Orders, Ringing,
                         testing::Values(WakeOrder::by_finisher, WakeOrder::by_sleeper),
                         [](const auto& order) {
                           return order.param == WakeOrder::by_sleeper ? "by_sleeper"
                                                                       : "by_finisher";
                         });

}  // namespace
}  // namespace brigade
