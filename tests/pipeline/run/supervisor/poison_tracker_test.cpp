#include "pipeline/run/supervisor/poison_tracker.h"

#include <gtest/gtest.h>

#include <csignal>

#include "pipeline/worker/tasks/replica_context.h"

namespace brigade {
namespace {

constexpr bool kOwnFault = true;
constexpr bool kKilledByOthers = false;

Plan plan() {
  Plan plan;
  plan.stages.resize(2);
  for (PlanStage& stage : plan.stages) {
    stage.queues.resize(2);
    stage.queues[0].task = 4;
    stage.queues[1].task = 3;
  }
  plan.stages[1].batched = true;
  return plan;
}

TEST(PoisonTracker, CrashesAndExitsAreAWorkersOwnFault) {
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

TEST(PoisonTracker, TheSecondDeathBySampleQuarantinesIt) {
  const Plan planned = plan();
  PoisonTracker poison_tracker(planned);
  EXPECT_TRUE(poison_tracker.died(0, 17, 16, kOwnFault).poisoned.empty());
  EXPECT_TRUE(poison_tracker.died(0, 18, 16, kOwnFault).poisoned.empty());
  const auto verdict = poison_tracker.died(0, 17, 16, kOwnFault);
  EXPECT_EQ(verdict.poisoned, std::vector<std::uint64_t>{17});
  EXPECT_EQ(verdict.deaths, 2);
}

TEST(PoisonTracker, PoisonAfterIsTheStages) {
  Plan planned = plan();
  planned.stages[0].poison_after = 3;
  PoisonTracker poison_tracker(planned);
  EXPECT_TRUE(poison_tracker.died(0, 17, 0, kOwnFault).poisoned.empty());
  EXPECT_FALSE(poison_tracker.is_last_chance(0, 17));
  EXPECT_TRUE(poison_tracker.died(0, 17, 0, kOwnFault).poisoned.empty());
  EXPECT_TRUE(poison_tracker.is_last_chance(0, 17));
  EXPECT_FALSE(poison_tracker.is_last_chance(0, 18));
  EXPECT_FALSE(poison_tracker.died(0, 17, 0, kOwnFault).poisoned.empty());
  EXPECT_FALSE(poison_tracker.is_last_chance(0, 17));
}

TEST(PoisonTracker, StagesDoNotShareTheirSuspicions) {
  const Plan planned = plan();
  PoisonTracker poison_tracker(planned);
  EXPECT_TRUE(poison_tracker.died(0, 17, 0, kOwnFault).poisoned.empty());
  EXPECT_TRUE(poison_tracker.died(1, 17, 0, kOwnFault).poisoned.empty());
}

TEST(PoisonTracker, OfABatchNobodyCanTellSoAllOfItGoes) {
  const Plan planned = plan();
  PoisonTracker poison_tracker(planned);
  const std::uint64_t at = SampleAddress{1, 7}.word();
  EXPECT_TRUE(poison_tracker.died(1, at, 0, kOwnFault).poisoned.empty());
  const std::vector<std::uint64_t> batch{SampleAddress{1, 6}.word(), SampleAddress{1, 7}.word(),
                                         SampleAddress{1, 8}.word()};
  EXPECT_EQ(poison_tracker.died(1, at, 0, kOwnFault).poisoned, batch);
}

TEST(PoisonTracker, WithoutAnInFlightSampleNobodyIsToBlame) {
  const Plan planned = plan();
  PoisonTracker poison_tracker(planned);
  for (int i = 0; i < 1000; ++i) {
    EXPECT_TRUE(poison_tracker.died(0, kNever, 0, kOwnFault).poisoned.empty());
    EXPECT_FALSE(poison_tracker.died(0, kNever, 0, kKilledByOthers).hopeless);
  }
}

TEST(PoisonTracker, ToBeKilledIsNoSamplesFaultButAHundredTimesWithoutProgressAreEnough) {
  const Plan planned = plan();
  PoisonTracker poison_tracker(planned);
  for (int i = 0; i < kKillsWithoutProgress - 1; ++i) {
    const auto verdict = poison_tracker.died(0, 17, 16, kKilledByOthers);
    EXPECT_TRUE(verdict.poisoned.empty());
    EXPECT_FALSE(verdict.hopeless) << i;
  }
  EXPECT_TRUE(poison_tracker.died(0, 17, 16, kKilledByOthers).hopeless);
}

TEST(PoisonTracker, ProgressStartsTheCountAnew) {
  const Plan planned = plan();
  PoisonTracker poison_tracker(planned);
  for (int round = 0; round < 3; ++round) {
    for (int i = 0; i < kKillsWithoutProgress - 1; ++i) {
      EXPECT_FALSE(
          poison_tracker.died(0, 17, static_cast<std::uint64_t>(4 * round), kKilledByOthers)
              .hopeless);
    }
  }
}

}  // namespace
}  // namespace brigade
