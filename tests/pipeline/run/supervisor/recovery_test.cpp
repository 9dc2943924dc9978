#include "pipeline/run/supervisor/recovery.h"

#include <gtest/gtest.h>

#include <csignal>

#include "pipeline/memory/shared_segments.h"
#include "pipeline/worker/tasks/replica_context.h"
#include "tests/support/small_plan.h"

namespace brigade {
namespace {

constexpr Ending kKilled{Ending::Kind::killed, SIGKILL};
constexpr Ending kCrashed{Ending::Kind::killed, SIGSEGV};
constexpr Ending kExited{Ending::Kind::exited, 0};
using Next = Recovery::Decision::Next;

// numbers (replica 0 of the graph) -> two sinks (1 and 2).
struct RecoveryTest : testing::Test {
  Plan plan = small_plan(2);
  std::unique_ptr<SharedSegments> segments = SharedSegments::create(plan, {}).value();
  Control<SystemPolicy>& control = segments->control();

  void policy(RestartSpec::Policy policy, bool degrade = false) {
    for (PlanStage& stage : plan.stages) {
      stage.restart.policy = policy;
      stage.restart.degrade = degrade;
    }
  }
  void begin(RestartSpec::Policy which = RestartSpec::Policy::on_failure, bool degrade = false) {
    policy(which, degrade);
    tallies.emplace(plan);
    recovery.emplace(plan, control, *tallies);
  }
  static DeadReplica sink(int replica) { return {1 + replica, 1, replica, true, true}; }
  Recovery::Decision die(Recovery& recovery, const Ending& ending, DeadReplica dead = sink(0),
                         std::int64_t now = 0) {
    FailureReport death;
    death.stage = "sink";
    death.replica = dead.replica;
    death.ending = ending;
    return recovery.died(dead, death, now);
  }
  Recovery::Decision die(const Ending& ending, DeadReplica dead = sink(0), std::int64_t now = 0) {
    return die(*recovery, ending, dead, now);
  }
  std::optional<RecoveryTallies> tallies;
  std::optional<Recovery> recovery;
};

TEST_F(RecoveryTest, RepairsFirst) {
  begin();
  const auto& table = control.stages[1].queues[0].table;
  table.word(0) = table.claimed(0, 1);
  live_counters(control, 1).waiting = static_cast<std::uint64_t>(Waiting::input);
  EXPECT_EQ(die(kKilled).next, Next::restart);
  EXPECT_EQ(table.read(table.word(0), 0).state, TaskState::open);
  EXPECT_EQ(control.stages[1].repairs->value, 1u);
  EXPECT_EQ(live_counters(control, 1).waiting, static_cast<std::uint64_t>(Waiting::no));
}

TEST_F(RecoveryTest, WhoCannotBeStartedAgainIsTriedAgainWithinItsRestarts) {
  begin();
  die(kKilled);
  const std::string why = "out of processes";
  for (const std::int64_t delay_ms : {100, 200, 400, 800}) {
    const auto decision = recovery->not_started(sink(0), why, 1'000);
    EXPECT_EQ(decision.next, Next::restart);
    EXPECT_EQ(decision.restart_ns, 1'000 + delay_ms * 1'000'000);
  }
  const auto last = recovery->not_started(sink(0), why, 1'000);
  EXPECT_EQ(last.next, Next::fail);
  EXPECT_EQ(event_text(last.event),
            "cannot restart stage \"sink\" replica 0: out of processes; it was restarted 5 times "
            "within 30.0 s (`restart:`)");
  EXPECT_EQ(control.stages[1].repairs->value, 1u) << "of the death alone";
}

TEST_F(RecoveryTest, SaysWhatHappensNow) {
  begin();
  EXPECT_EQ(event_text(die(kKilled).event),
            "stage \"sink\" replica 0 was killed by SIGKILL (manually, or by the kernel: out of "
            "memory); restarted immediately (restart 1 of 5 within 30.0 s)");
  const auto second = die(kKilled, sink(0), 1'000);
  EXPECT_EQ(second.restart_ns, 1'000 + 100'000'000);
  EXPECT_EQ(event_text(second.event),
            "stage \"sink\" replica 0 was killed by SIGKILL (manually, or by the kernel: out of "
            "memory); restarted in 100.0 ms (restart 2 of 5 within 30.0 s)");
}

TEST_F(RecoveryTest, EachReplicaHasRestartsOfItsOwn) {
  begin();
  for (int i = 0; i < 5; ++i) EXPECT_EQ(die(kKilled).next, Next::restart);
  EXPECT_EQ(die(kKilled, sink(1)).next, Next::restart);
  const auto spent = die(kKilled);
  EXPECT_EQ(spent.next, Next::fail);
  EXPECT_EQ(event_text(spent.event),
            "stage \"sink\" replica 0 was killed by SIGKILL (manually, or by the kernel: out of "
            "memory); it was restarted 5 times within 30.0 s (`restart:`)");
}

struct SavingSink : RecoveryTest {
  SavingSink() {
    plan.stages[1].saves = plan.stages[1].stateful = true;
    begin();
  }
};

TEST_F(SavingSink, TakesTheRunBackToItsCheckpoint) {
  const auto first = die(kKilled);
  EXPECT_EQ(first.next, Next::resume);
  EXPECT_EQ(event_text(first.event),
            "stage \"sink\" replica 0 was killed by SIGKILL (manually, or by the kernel: out of "
            "memory); the run resumes from its last checkpoint (restart 1 of 5 within 30.0 s)");
  EXPECT_EQ(die(kKilled, sink(0), 1'000).restart_ns, 1'000 + 100'000'000);
  Recovery of_the_next_run(plan, control, *tallies);
  for (int i = 2; i < 5; ++i) EXPECT_EQ(die(of_the_next_run, kKilled).next, Next::resume);
  EXPECT_EQ(die(of_the_next_run, kKilled).next, Next::fail) << "the budget is the command's";
}

TEST_F(SavingSink, EndsTheRunWhereAnotherStageWouldForget) {
  plan.stages[0].stateful = true;
  const auto decision = die(kKilled);
  EXPECT_EQ(decision.next, Next::fail);
  EXPECT_NE(event_text(decision.event).find(plan.stages[0].name + " would lose its state"),
            std::string::npos)
      << event_text(decision.event);
}

TEST_F(RecoveryTest, NeverEndsTheRun) {
  begin(RestartSpec::Policy::never);
  const auto decision = die(kCrashed);
  EXPECT_EQ(decision.next, Next::fail);
  EXPECT_EQ(event_text(decision.event), "stage \"sink\" replica 0 was killed by SIGSEGV");
}

TEST_F(RecoveryTest, APlainExitIsRestartedByAlwaysOnly) {
  policy(RestartSpec::Policy::on_failure);
  RecoveryTallies tallies(plan);
  Recovery failure(plan, control, tallies);
  EXPECT_EQ(die(failure, kExited).next, Next::fail);
  policy(RestartSpec::Policy::always);
  RecoveryTallies other_tallies(plan);
  Recovery always(plan, control, other_tallies);
  EXPECT_EQ(die(always, kExited).next, Next::restart);
}

TEST_F(RecoveryTest, DegradedTheOthersCarryOnAsLongAsThereAreAny) {
  begin(RestartSpec::Policy::never, true);
  const auto decision = die(kCrashed);
  EXPECT_EQ(decision.next, Next::carry_on);
  EXPECT_EQ(event_text(decision.event),
            "stage \"sink\" replica 0 was killed by SIGSEGV; the other replicas continue");
  EXPECT_EQ(control.replicas[1].ack.value, 1u);  // nobody waits for it to see an end
  EXPECT_EQ(control.replicas[2].ack.value, 0u);
  DeadReplica last = sink(1);
  last.others_left = false;
  EXPECT_EQ(die(kCrashed, last).next, Next::fail);
}

TEST_F(RecoveryTest, TasksThatAreReservedCannotBeLeftToOthers) {
  plan.stages[1].queues[0].fixed = true;
  begin(RestartSpec::Policy::never, true);
  EXPECT_EQ(die(kCrashed).next, Next::fail);
}

TEST_F(RecoveryTest, WhatCannotOpenIsNotTriedAgain) {
  begin();
  DeadReplica opening = sink(0);
  opening.was_ready = false;
  const auto decision = die(kCrashed, opening);
  EXPECT_EQ(decision.next, Next::fail);
  EXPECT_EQ(event_text(decision.event),
            "stage \"sink\" replica 0 was killed by SIGSEGV while opening");
  EXPECT_EQ(die(kKilled, opening).next, Next::restart);  // not its doing
}

TEST_F(RecoveryTest, ASampleThatKillsTwiceIsInQuarantineBeforeItsTaskIsOpen) {
  begin();
  const auto& table = control.stages[1].queues[0].table;
  for (int death = 1; death <= 2; ++death) {
    table.word(0) = table.claimed(0, 1);
    control.replicas[1].in_flight.value = 7;
    const auto decision = die(kCrashed);
    EXPECT_EQ(decision.next, Next::restart);
    EXPECT_EQ(
        event_text(decision.event).find("the sample has killed 2 workers and is quarantined") !=
            std::string::npos,
        death == 2)
        << event_text(decision.event);
    EXPECT_EQ(control.stages[1].quarantine.empty(), death == 1);
  }
  EXPECT_EQ(control.replicas[1].in_flight.value, kNever);
}

// Killed twice over one sample while the kernel counts kills for lack of memory as `rises` says.
std::size_t quarantined_after(RecoveryTest& test, const std::vector<std::uint64_t>& rises) {
  test.policy(RestartSpec::Policy::on_failure);
  std::uint64_t count = 5;
  RecoveryTallies tallies(test.plan, MemoryKills([&count] { return count; }));
  Recovery recovery(test.plan, test.control, tallies);
  for (const std::uint64_t rise : rises) {
    count += rise;
    test.control.replicas[1].in_flight.value = 7;
    const auto decision = test.die(recovery, kKilled);
    EXPECT_EQ(decision.next, Next::restart);
    EXPECT_EQ(event_text(decision.event).find("SIGKILL (by the kernel: out of memory)") !=
                  std::string::npos,
              rise > 0)
        << event_text(decision.event);
  }
  return test.control.stages[1].quarantine.size();
}

TEST_F(RecoveryTest, ASampleThatTakesAllMemoryTwiceGoesIntoQuarantine) {
  EXPECT_EQ(quarantined_after(*this, {1, 1}), 1u);
}

TEST_F(RecoveryTest, OtherKillsAreNoSamplesFault) {
  EXPECT_EQ(quarantined_after(*this, {0, 0}), 0u);
}

TEST_F(RecoveryTest, OneKillForLackOfMemoryIsNotEnough) {
  EXPECT_EQ(quarantined_after(*this, {1, 0, 0}), 0u);
}

// To read how many there have been takes longer than the repair.
TEST_F(RecoveryTest, TheCountOfMemoryKillsIsReadFirstOnlyWhereItDecides) {
  policy(RestartSpec::Policy::on_failure);
  std::uint64_t count = 0;
  std::vector<std::uint64_t> repairs;  // when it was read
  const auto& repaired = control.stages[1].repairs->value;
  RecoveryTallies memory_kills(plan, MemoryKills([&] {
                                 repairs.push_back(repaired.load());
                                 return count;
                               }));
  Recovery decider(plan, control, memory_kills);
  for (int death = 1; death <= 2; ++death) {
    ++count;
    control.replicas[1].in_flight.value = 7;
    die(decider, kKilled);
  }
  EXPECT_EQ(repairs, (std::vector<std::uint64_t>{0, 1, 1})) << "start, after 1, before 2";
  EXPECT_TRUE(control.stages[1].quarantine.contains(7));
}

TEST_F(RecoveryTest, AFullQuarantineEndsTheRun) {
  begin();
  auto& quarantine = control.stages[1].quarantine;
  for (std::uint64_t number = 0; number < quarantine.capacity(); ++number)
    quarantine.append(1000 + number);
  for (int death = 1; death <= 2; ++death) {
    control.replicas[1].in_flight.value = 7;
    const auto decision = die(kCrashed);
    EXPECT_EQ(decision.next, death == 1 ? Next::restart : Next::fail);
    EXPECT_EQ(event_text(decision.event).find("; the quarantine is full: 64 samples") !=
                  std::string::npos,
              death == 2)
        << event_text(decision.event);
  }
}

TEST_F(RecoveryTest, AHundredKillsOverOneSampleEndTheRun) {
  for (PlanStage& stage : plan.stages) stage.restart.burst = 1'000'000;
  begin();
  for (int i = 1; i < kKillsWithoutProgress; ++i) {
    control.replicas[1].in_flight.value = 7;
    ASSERT_EQ(die(kKilled).next, Next::restart) << i;
  }
  control.replicas[1].in_flight.value = 7;
  const auto decision = die(kKilled);
  EXPECT_EQ(decision.next, Next::fail);
  EXPECT_NE(event_text(decision.event).find("a worker was killed on this sample 100 times"),
            std::string::npos)
      << event_text(decision.event);
}

}  // namespace
}  // namespace brigade
