// The real templates, driven step by step: claim, finish, advance, wait, wake, repair and stop as
// they are compiled into the product, under every order of steps up to a bound.

#include <gtest/gtest.h>

#include <iostream>

#include "tests/transports/stepping/effort.h"
#include "tests/transports/stepping/explore.h"

namespace brigade::stepping {
namespace {

using support::StageSpec;

struct Line {
  const char* name;
  std::vector<StageSpec> stages;
  std::uint64_t samples;
};

const Line kOneToOneInOrder = {
    "one_to_one_in_order", {{1, 1, 2, {}, true}, {1, 1, 0, {0}, true}}, 4};
const Line kOneToOneWords = {"one_to_one_with_task_words", {{1, 1, 2, {}}, {1, 1, 0, {0}}}, 4};
const Line kOneTwoOne = {
    "one_two_one", {{1, 1, 2, {}, true}, {2, 1, 2, {0}}, {1, 1, 0, {1}, true}}, 3};
const Line kTwoToTwo = {"two_to_two", {{2, 1, 2, {}}, {2, 1, 0, {0}}}, 4};
const Line kTwoToTwoOfTwo = {"two_to_two_with_tasks_of_two", {{2, 2, 4, {}}, {2, 2, 0, {0}}}, 8};
const Line kBatches = {"two_writers_one_reader_of_two", {{2, 1, 4, {}}, {1, 2, 0, {0}, true}}, 6};
const Line kBroadcast = {
    "broadcast", {{1, 1, 2, {}, true}, {2, 1, 0, {0}}, {1, 1, 0, {0}, true}}, 3};
const Line kZip = {"zip", {{1, 1, 2, {}, true}, {2, 1, 2, {}}, {1, 1, 0, {0, 1}}}, 3};
const Line kFixed = {"fixed_turns", {{1, 1, 4, {}, true}, {2, 1, 0, {0}, false, true}}, 4};
const Line kFanOut = {"two_rows_for_each_sample",
                      {{1, 1, 2, {}, true}, {2, 1, 6, {0}, false, false, 2}, {1, 3, 0, {1}, true}},
                      3};
const Line kZipOfFanOuts = {"zip_of_two_that_make_two",
                            {{1, 1, 2, {}, true},
                             {1, 1, 2, {0}, true, false, 2},
                             {1, 1, 4, {0}, false, false, 2},
                             {1, 1, 0, {1, 2}, true}},
                            2};

Scenario scenario(const Line& line, int victim = -1) {
  Scenario made;
  made.name = line.name;
  made.stages = line.stages;
  made.samples = line.samples;
  made.victim_stage = victim;
  made.detours = victim < 0 ? kEffort.detours : kEffort.detours_around_death;
  return made;
}

void expect_good(const Scenario& made) {
  const Exploration all = enumerate(made, kEffort.runs_max);
  EXPECT_EQ(all.failure, "") << made.name;
  std::cout << "  " << made.name << ", victim in stage " << made.victim_stage << ", "
            << made.detours << " detours: " << all.runs << " runs, " << all.states << " states"
            << (all.complete ? "" : " (cut)") << "\n";
  const Exploration some = walk(made, 1, kEffort.random_runs);
  EXPECT_EQ(some.failure, "") << made.name;
}

class EveryLine : public testing::TestWithParam<Line> {};

TEST_P(EveryLine, HoldsInEveryOrderOfSteps) { expect_good(scenario(GetParam())); }

TEST_P(EveryLine, HoldsWhereverAReplicaDies) {
  for (int victim = 0; victim < static_cast<int>(GetParam().stages.size()); ++victim) {
    expect_good(scenario(GetParam(), victim));
  }
}

TEST_P(EveryLine, RunsDryWhenStoppedAtAnyTimeAndWhoeverDies) {
  for (int victim = -1; victim < static_cast<int>(GetParam().stages.size()); ++victim) {
    Scenario stopped = scenario(GetParam(), victim);
    stopped.detours = kEffort.detours_around_death;
    stopped.stop = true;
    expect_good(stopped);
  }
}

INSTANTIATE_TEST_SUITE_P(Lines, EveryLine,
                         testing::Values(kOneToOneInOrder, kOneToOneWords, kOneTwoOne, kTwoToTwo,
                                         kTwoToTwoOfTwo, kBatches, kBroadcast, kZip, kFixed,
                                         kFanOut, kZipOfFanOuts),
                         [](const auto& line) { return line.param.name; });

// What waits in its work for those below it must have woken them.
const Line kTwoBatches = {"readers_of_two_and_three",
                          {{1, 1, 6, {}, true}, {1, 2, 0, {0}, true}, {1, 3, 0, {0}, true}},
                          6};

TEST(WakeUps, AreNotPutOffToTheNextFinish) {
  for (const Line& line : {kOneToOneInOrder, kOneToOneWords, kOneTwoOne, kTwoBatches, kFanOut}) {
    for (const WakeOrder order : {WakeOrder::by_sleeper, WakeOrder::by_finisher}) {
      Scenario made = scenario(line);
      made.waits_for_below = true;
      made.wake_order = order;
      expect_good(made);
    }
  }
}

TEST(WakeUps, HoldInEveryOrderOfStepsWhereFinishersPayForThem) {
  for (const Line& line : {kOneToOneInOrder, kOneTwoOne, kBatches}) {
    for (const int victim : {-1, 0, 1}) {
      Scenario made = scenario(line, victim);
      made.wake_order = WakeOrder::by_finisher;
      expect_good(made);
    }
  }
}

TEST(Deaths, TwoOfTheSameReplica) {
  Scenario made = scenario(kTwoToTwo, 0);
  made.deaths = 2;
  expect_good(made);
}

TEST(Deaths, WithoutARestartTheOthersDoTheWork) {
  for (int victim : {0, 1}) {
    Scenario made = scenario(kTwoToTwo, victim);
    made.restart = false;
    expect_good(made);
  }
}

TEST(Deaths, ByAPoisonousSampleQuarantineIt) {
  for (const Line& line : {kOneToOneInOrder, kTwoToTwo}) {
    for (int victim : {0, 1}) {
      Scenario made = scenario(line, victim);
      made.poison = true;
      expect_good(made);
    }
  }
}

// --- what must be noticed ------------------------------------------------------------------------

std::string caught(Scenario made) {
  for (made.detours = 0; made.detours <= 2; ++made.detours) {
    const Exploration all = enumerate(made, 200'000);
    if (!all.failure.empty()) return all.failure.substr(0, all.failure.find('\n'));
  }
  return "nothing";
}

TEST(NegativeControls, RepairWithoutReopeningHangs) {
  Scenario made = scenario(kTwoToTwo, 0);
  made.rules.reopen = false;
  EXPECT_EQ(caught(made), "deadlock");
}

TEST(NegativeControls, RepairWithoutCountingHangs) {
  Scenario made = scenario(kTwoToTwo, 0);
  made.restart = false;
  made.rules.count = false;
  EXPECT_EQ(caught(made), "deadlock");
}

TEST(NegativeControls, RepairWithoutAdvancingHangs) {
  Scenario made = scenario(kTwoToTwo, 0);
  made.rules.advance = false;
  EXPECT_EQ(caught(made), "deadlock");
}

TEST(NegativeControls, RepairWithoutRingingHangs) {
  Scenario made = scenario(kTwoToTwo, 0);
  made.rules.ring = false;
  EXPECT_EQ(caught(made), "deadlock");
}

TEST(NegativeControls, RepairWithoutClearingLeavesBits) {
  Scenario made = scenario(kTwoToTwo, 0);
  made.restart = false;
  made.rules.clear = false;
  EXPECT_EQ(caught(made).substr(0, 21), "waiter bits were left");
}

TEST(NegativeControls, RepairWithoutSettlingCountsTwice) {
  for (const Line& line : {kOneToOneInOrder, kOneToOneWords}) {
    Scenario made = scenario(line, 0);
    made.rules.settle = false;
    EXPECT_EQ(caught(made).substr(0, 9), "the books");
  }
}

TEST(NegativeControls, AFinishByAPlainStoreLetsFinishersMissEachOther) {
  Scenario made = scenario(kTwoToTwo);
  made.mistakes.finish_is_a_plain_store = true;
  EXPECT_EQ(caught(made), "deadlock");
}

TEST(NegativeControls, ADelayedWaiterBitLosesAWake) {
  Scenario made = scenario(kOneToOneInOrder);
  made.wake_order = WakeOrder::by_finisher;  // else the barrier carries it, too
  made.mistakes.waiter_bits_are_delayed = true;
  EXPECT_EQ(caught(made), "deadlock");
}

TEST(NegativeControls, ASleeperWithoutTheBarrierIsNeverWoken) {
  Scenario made = scenario(kOneToOneInOrder);
  made.mistakes.no_barrier_everywhere = true;
  EXPECT_EQ(caught(made), "deadlock");
}

TEST(NegativeControls, AFinisherThatLooksBeforeItStoresLosesAWake) {
  Scenario made = scenario(kOneToOneInOrder);
  made.mistakes.order_is_not_kept = true;
  EXPECT_EQ(caught(made), "deadlock");
}

TEST(NegativeControls, AFinisherThatPaysByAPlainStoreLosesAWake) {
  Scenario made = scenario(kOneToOneInOrder);
  made.wake_order = WakeOrder::by_finisher;
  made.mistakes.finish_is_a_plain_store = true;
  EXPECT_EQ(caught(made), "deadlock");
}

TEST(NegativeControls, AClaimWithoutCompareAndSwapIsMadeTwice) {
  Scenario made = scenario(kTwoToTwo);
  made.mistakes.claims_are_not_atomic = true;
  EXPECT_NE(caught(made), "nothing");
}

TEST(NegativeControls, AMarkMovedWithoutCompareAndSwapGoesDown) {
  Scenario made = scenario(kTwoToTwo);
  made.mistakes.marks_are_not_atomic = true;
  EXPECT_NE(caught(made), "nothing");
}

TEST(NegativeControls, ARingSmallerThanItsTasksIsADeadlock) {
  Scenario made = scenario({"", {{1, 1, 1, {}, true}, {1, 2, 0, {0}, true}}, 4});
  EXPECT_EQ(caught(made), "deadlock");
}

TEST(NegativeControls, NoStepIsForgotten) {  // a run is as long as it was
  const Exploration all = enumerate(scenario(kOneToOneWords, 0), 1'000'000);
  EXPECT_GT(all.states, 5000u);
  EXPECT_TRUE(all.complete);
}

}  // namespace
}  // namespace brigade::stepping
