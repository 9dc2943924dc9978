#include "pipeline/run/supervisor/restart_budget.h"

#include <gtest/gtest.h>

#include <csignal>

namespace brigade {
namespace {

constexpr std::int64_t kSecond = 1'000'000'000;
constexpr Ending kKilled{Ending::Kind::killed, SIGKILL};
constexpr Ending kExited{Ending::Kind::exited, 0};
constexpr Ending kExitedWith3{Ending::Kind::exited, 3};
constexpr Ending kUnknown{};
using Policy = RestartSpec::Policy;

RestartSpec spec(Policy policy = Policy::on_failure) {
  RestartSpec spec;
  spec.policy = policy;
  spec.backoff_ns = 100'000'000;
  spec.burst = 5;
  spec.within_ns = 30 * kSecond;
  return spec;
}

TEST(RestartPolicy, OnFailureCoversAllButAPlainExit) {
  for (const Ending& ending : {kKilled, kExitedWith3, kUnknown}) {
    EXPECT_TRUE(covers(Policy::on_failure, ending));
    EXPECT_TRUE(covers(Policy::always, ending));
    EXPECT_FALSE(covers(Policy::never, ending));
  }
  EXPECT_FALSE(covers(Policy::on_failure, kExited));
  EXPECT_TRUE(covers(Policy::always, kExited));
}

TEST(RestartBudget, TheFirstIsAtOnceAndEachOneAfterWaitsTwiceAsLong) {
  RestartBudget budget(spec());
  for (const std::int64_t expected : {0, 100, 200, 400, 800}) {
    const auto decision = budget.died(kKilled, kSecond);
    EXPECT_TRUE(decision.restart);
    EXPECT_EQ(decision.delay_ns, expected * 1'000'000);
  }
  const auto spent = budget.died(kKilled, kSecond);
  EXPECT_FALSE(spent.restart);
  EXPECT_EQ(spent.used, 5);
}

TEST(RestartBudget, OldRestartsAreForgotten) {
  RestartBudget budget(spec());
  for (int i = 0; i < 5; ++i) EXPECT_TRUE(budget.died(kKilled, 0).restart);
  EXPECT_FALSE(budget.died(kKilled, 30 * kSecond).restart);
  const auto later = budget.died(kKilled, 30 * kSecond + 1);
  EXPECT_TRUE(later.restart);
  EXPECT_EQ(later.delay_ns, 0);
  EXPECT_EQ(later.used, 1);
}

TEST(RestartBudget, AWaitIsAtMostHalfTheTime) {
  RestartSpec many = spec();
  many.burst = 100;
  RestartBudget budget(many);
  for (int i = 0; i < 90; ++i) budget.died(kKilled, 0);
  EXPECT_EQ(budget.died(kKilled, 0).delay_ns, 15 * kSecond);
}

TEST(RestartBudget, NoBackoffIsNoWait) {
  RestartSpec eager = spec();
  eager.backoff_ns = 0;
  eager.burst = 100;
  RestartBudget budget(eager);
  for (int i = 0; i < 100; ++i) EXPECT_EQ(budget.died(kKilled, 0).delay_ns, 0);
}

TEST(RestartBudget, NeverIsNever) {
  EXPECT_FALSE(RestartBudget(spec(Policy::never)).died(kKilled, 0).restart);
}

}  // namespace
}  // namespace brigade
