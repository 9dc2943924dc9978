#include "transports/wait.h"

#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "tests/support/scripted_policy.h"

namespace brigade {
namespace {

using P = support::ScriptedPolicy;
using Found = Attempt<P>;

class ClaimOrWait : public testing::Test {
 protected:
  ClaimOrWait() {
    control_.bells = bells_.get();
    control_.wake_order = WakeOrder::by_sleeper;
    P::on_sleep = [this] { ++sleeps_; };
    P::on_barrier = [this] { ++barriers_; };
  }
  ~ClaimOrWait() override {
    P::on_sleep = [] {};
    P::on_barrier = [] {};
  }

  /// Each attempt finds the next of `script`.
  Found wait(std::vector<Found> script, int spins = 0, std::vector<Mark<P>*> also = {}) {
    attempts_ = 0;
    return claim_or_wait<P>(
        control_, 70, spins, [&] { return script.at(attempts_++); }, [&] { ++announced_; }, also);
  }
  Found blocked(Mark<P>& mark, std::uint64_t until = 0) {
    return {Look::blocked, 0, &mark, Cause::input, until};
  }
  bool has_bit(Mark<P>& mark) { return (mark.waiters.bits[1] >> 6 & 1) != 0; }

  Mark<P> mark_;
  Mark<P> other_;
  std::unique_ptr<Bell<P>[]> bells_ { new Bell<P>[ 71 ] };
  Bell<P>& bell_ = bells_[70];
  Control<P> control_;
  const Found claimed_{Look::claimed, 9};
  const Found ended_{Look::ended};
  std::size_t attempts_ = 0;
  int sleeps_ = 0;
  int barriers_ = 0;
  int announced_ = 0;  // sleeps, before the first of a wait
};

TEST_F(ClaimOrWait, TakesWhatIsThereWithoutABarrierOrASleep) {
  EXPECT_EQ(wait({claimed_}).task, 9u);
  EXPECT_EQ(wait({ended_}).look, Look::ended);
  EXPECT_EQ(announced_, 0);
  EXPECT_EQ(barriers_, 0);
  EXPECT_EQ(sleeps_, 0);
}

TEST_F(ClaimOrWait, LooksAgainAfterSettingItsBitAndSleepsOnlyThen) {
  EXPECT_EQ(wait({blocked(mark_), claimed_}).look, Look::claimed);
  EXPECT_EQ(sleeps_, 0);
  EXPECT_EQ(wait({blocked(mark_), blocked(mark_), claimed_}).look, Look::claimed);
  EXPECT_EQ(sleeps_, 1);
  EXPECT_FALSE(has_bit(mark_));
}

TEST_F(ClaimOrWait, PassesTheBarrierBetweenItsBitAndItsLastLook) {
  P::on_barrier = [&] {
    EXPECT_TRUE(has_bit(mark_));
    EXPECT_EQ(bell_.until, 48u);
    EXPECT_EQ(attempts_, 1u);
    EXPECT_EQ(announced_, 1);
    ++barriers_;
  };
  P::on_sleep = [&] {
    EXPECT_EQ(barriers_, 1);
    EXPECT_TRUE(has_bit(mark_));
    ++sleeps_;
  };
  wait({blocked(mark_, 48), blocked(mark_, 48), claimed_});
  EXPECT_EQ(sleeps_, 1);
}

TEST_F(ClaimOrWait, LeavesTheBarrierToFinishersWhereTheGraphSaysSo) {
  control_.wake_order = WakeOrder::by_finisher;
  wait({blocked(mark_), blocked(mark_), claimed_});
  EXPECT_EQ(sleeps_, 1);
  EXPECT_EQ(barriers_, 0);
}

TEST_F(ClaimOrWait, DoesNotSleepWhereLessWouldDoThanItHasSaid) {  // an end was lowered
  wait({blocked(mark_, 48), blocked(mark_, 32), blocked(mark_, 32), claimed_});
  EXPECT_EQ(sleeps_, 1);
  EXPECT_EQ(bell_.until, 32u);
  wait({blocked(mark_, 48), blocked(mark_, 64), claimed_});  // to be woken too early does no harm
  EXPECT_EQ(sleeps_, 2);
  EXPECT_EQ(bell_.until, 48u);
}

TEST_F(ClaimOrWait, SleepsOnTheBellAsItWasBeforeTheLastLook) {
  bell_.rings = 5;
  std::uint32_t expected = 0;
  P::on_sleep_expecting = [&](std::uint32_t value) { expected = value; };
  std::size_t attempts = 0;
  claim_or_wait<P>(control_, 70, 0, [&] {
    if (++attempts == 2) bell_.rings = 6;  // rung during the last look
    return attempts == 3 ? claimed_ : blocked(mark_);
  });
  P::on_sleep_expecting = [](std::uint32_t) {};
  EXPECT_EQ(expected, 5u);  // so that the futex would return at once
}

TEST_F(ClaimOrWait, MovesItsBitWhenAnotherMarkBlocksIt) {
  P::on_sleep = [&] {
    EXPECT_FALSE(has_bit(mark_));
    EXPECT_TRUE(has_bit(other_));
    ++sleeps_;
  };
  wait({blocked(mark_), blocked(other_), blocked(other_), claimed_});
  EXPECT_EQ(sleeps_, 1);
  EXPECT_FALSE(has_bit(other_));
}

TEST_F(ClaimOrWait, SleepsOnEveryMarkOfSeveralLanes) {
  P::on_sleep = [&] {
    EXPECT_TRUE(has_bit(mark_));
    EXPECT_TRUE(has_bit(other_));
    ++sleeps_;
  };
  wait({blocked(mark_, 48), blocked(other_, 48), claimed_}, 0, {&mark_, &other_});
  EXPECT_EQ(sleeps_, 1);
  EXPECT_EQ(bell_.until, 0u);  // any of them, however little it moves
  EXPECT_FALSE(has_bit(mark_));
  EXPECT_FALSE(has_bit(other_));
}

TEST_F(ClaimOrWait, SpinsAsOftenAsItMay) {
  EXPECT_EQ(wait({blocked(mark_), blocked(mark_), claimed_}, 2).look, Look::claimed);
  EXPECT_EQ(sleeps_, 0);
  EXPECT_EQ(announced_, 0);  // it never stopped working
  EXPECT_EQ(wait({blocked(mark_), ended_}, 2).look, Look::ended);
  EXPECT_EQ(announced_, 0);
}

TEST_F(ClaimOrWait, WaitsForABellAloneWhenNoMarkCanHelp) {
  const Found stopped{Look::blocked, 0, nullptr, Cause::stop};
  EXPECT_EQ(wait({stopped, stopped, stopped, stopped, ended_}).look, Look::ended);
  EXPECT_EQ(sleeps_, 2);
}

}  // namespace
}  // namespace brigade
