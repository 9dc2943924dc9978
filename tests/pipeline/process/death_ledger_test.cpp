#include "pipeline/process/death_ledger.h"

#include <gtest/gtest.h>

#include <csignal>

#include "pipeline/run/replica_context.h"

namespace brigade {
namespace {

constexpr bool kOwnFault = true;
constexpr bool kKilled = false;

Plan plan() {
  Plan plan;
  plan.stages.resize(2);
  for (PlanStage& stage : plan.stages) {
    stage.lanes.resize(2);
    stage.lanes[0].task = 4;
    stage.lanes[1].task = 3;
  }
  plan.stages[1].batched = true;
  return plan;
}

TEST(DeathLedger, CrashesAndExitsAreAWorkersOwnFault) {
  for (int signal : {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT, SIGSYS}) {
    EXPECT_TRUE(is_own_fault({Ending::Kind::killed, signal})) << signal;
  }
  EXPECT_TRUE(is_own_fault({Ending::Kind::exited, 0}));
  EXPECT_TRUE(is_own_fault({Ending::Kind::exited, 3}));
  for (int signal : {SIGKILL, SIGTERM, SIGINT, SIGHUP}) {
    EXPECT_FALSE(is_own_fault({Ending::Kind::killed, signal})) << signal;
  }
  EXPECT_FALSE(is_own_fault({}));
}

TEST(DeathLedger, TheSecondDeathBySampleQuarantinesIt) {
  const Plan planned = plan();
  DeathLedger ledger(planned);
  EXPECT_TRUE(ledger.died(0, 17, 16, kOwnFault).poisoned.empty());
  EXPECT_TRUE(ledger.died(0, 18, 16, kOwnFault).poisoned.empty());
  const auto verdict = ledger.died(0, 17, 16, kOwnFault);
  EXPECT_EQ(verdict.poisoned, std::vector<std::uint64_t>{17});
  EXPECT_EQ(verdict.deaths, 2);
}

TEST(DeathLedger, PoisonAfterIsTheStages) {
  Plan planned = plan();
  planned.stages[0].poison_after = 3;
  DeathLedger ledger(planned);
  EXPECT_TRUE(ledger.died(0, 17, 0, kOwnFault).poisoned.empty());
  EXPECT_TRUE(ledger.died(0, 17, 0, kOwnFault).poisoned.empty());
  EXPECT_FALSE(ledger.died(0, 17, 0, kOwnFault).poisoned.empty());
}

TEST(DeathLedger, StagesDoNotShareTheirSuspicions) {
  const Plan planned = plan();
  DeathLedger ledger(planned);
  EXPECT_TRUE(ledger.died(0, 17, 0, kOwnFault).poisoned.empty());
  EXPECT_TRUE(ledger.died(1, 17, 0, kOwnFault).poisoned.empty());
}

TEST(DeathLedger, OfABatchNobodyCanTellSoAllOfItGoes) {
  const Plan planned = plan();
  DeathLedger ledger(planned);
  const std::uint64_t at = lane_number(1, 7);
  EXPECT_TRUE(ledger.died(1, at, 0, kOwnFault).poisoned.empty());
  const std::vector<std::uint64_t> batch{lane_number(1, 6), lane_number(1, 7), lane_number(1, 8)};
  EXPECT_EQ(ledger.died(1, at, 0, kOwnFault).poisoned, batch);
}

TEST(DeathLedger, WithoutASampleInHandNobodyIsToBlame) {
  const Plan planned = plan();
  DeathLedger ledger(planned);
  for (int i = 0; i < 1000; ++i) {
    EXPECT_TRUE(ledger.died(0, kNever, 0, kOwnFault).poisoned.empty());
    EXPECT_FALSE(ledger.died(0, kNever, 0, kKilled).hopeless);
  }
}

TEST(DeathLedger, ToBeKilledIsNoSamplesFaultButAHundredTimesWithoutProgressAreEnough) {
  const Plan planned = plan();
  DeathLedger ledger(planned);
  for (int i = 0; i < kKillsWithoutProgress - 1; ++i) {
    const auto verdict = ledger.died(0, 17, 16, kKilled);
    EXPECT_TRUE(verdict.poisoned.empty());
    EXPECT_FALSE(verdict.hopeless) << i;
  }
  EXPECT_TRUE(ledger.died(0, 17, 16, kKilled).hopeless);
}

TEST(DeathLedger, ProgressStartsTheCountAnew) {
  const Plan planned = plan();
  DeathLedger ledger(planned);
  for (int round = 0; round < 3; ++round) {
    for (int i = 0; i < kKillsWithoutProgress - 1; ++i) {
      EXPECT_FALSE(ledger.died(0, 17, static_cast<std::uint64_t>(4 * round), kKilled).hopeless);
    }
  }
}

}  // namespace
}  // namespace brigade
