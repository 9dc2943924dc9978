// The real templates, driven step by step: claim, finish, advance, wait, wake, repair and stop as
// they are compiled into the product, under every order of steps up to a bound.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/planned_shape.h"
#include "tests/transports/stepping/explore.h"
#include "tests/transports/stepping/stepped_line.h"

namespace brigade::stepping {
namespace {

using support::StageSpec;

struct Line {
  const char* name;
  ByStage<StageSpec> stages;
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
const Line kFanOut = {"two_slots_for_each_sample",
                      {{1, 1, 2, {}, true}, {2, 1, 6, {0}, false, false, 2}, {1, 3, 0, {1}, true}},
                      3};
const Line kZipOfFanOuts = {"zip_of_two_that_make_two",
                            {{1, 1, 2, {}, true},
                             {1, 1, 2, {0}, true, false, 2},
                             {1, 1, 4, {0}, false, false, 2},
                             {1, 1, 0, {1, 2}, true}},
                            2};

// The ring of the source holds what the way of two stages to the zip needs.
const Line kLongWay = {
    "a_long_way_to_a_zip",
    {{1, 1, 4, {}, true}, {1, 2, 4, {0}, true}, {1, 4, 4, {1}, true}, {1, 1, 0, {0, 2}, true}},
    8};

const Line kProgram = {
    "a_program_that_holds_two", {{2, 1, 4, {}}, {1, 1, 0, {0}, false, false, 1, 2}}, 5};
const Line kProgramOfBatches = {
    "a_program_that_holds_three_of_two",
    {{1, 1, 2, {}, true}, {2, 1, 8, {0}}, {1, 2, 0, {1}, false, false, 1, 3}, {1, 1, 0, {0}}},
    8};

const Line kAnyOrder = {"a_program_that_takes_what_is_done",
                        {{2, 1, 4, {}}, {1, 1, 0, {0}, false, false, 1, 2, false, true}},
                        5};
const Line kAnyOrderOfBatches = {
    "a_program_that_takes_batches_of_two_that_are_done",
    {{1, 1, 2, {}, true}, {2, 1, 8, {0}}, {1, 2, 0, {1}, false, false, 1, 3, false, true}},
    8};

Scenario scenario(const Line& line, StageNumber victim = -1) {
  Scenario made;
  made.name = line.name;
  made.stages = line.stages;
  made.samples = line.samples;
  made.victim_stage = victim;
  made.detours = victim < 0 ? kEffort.detours : kEffort.detours_around_death;
  return made;
}

/// With a program everything ends.
bool may_die(const Line& line, StageNumber victim) { return line.stages[victim].hold == 1; }

class EveryLine : public testing::TestWithParam<Line> {};

TEST_P(EveryLine, HoldsInEveryOrderOfSteps) { expect_good(scenario(GetParam())); }

TEST_P(EveryLine, HoldsWhereverAReplicaDies) {
  for (const StageNumber victim : GetParam().stages.numbers()) {
    if (may_die(GetParam(), victim)) expect_good(scenario(GetParam(), victim));
  }
}

TEST_P(EveryLine, DrainsWhenStoppedAtAnyTimeAndWhoeverDies) {
  for (StageNumber victim = -1; victim < GetParam().stages.next_number(); ++victim) {
    if (victim >= 0 && !may_die(GetParam(), victim)) continue;
    Scenario stopped = scenario(GetParam(), victim);
    stopped.detours = kEffort.detours_around_death;
    stopped.stop = true;
    expect_good(stopped);
  }
}

INSTANTIATE_TEST_SUITE_P(Lines, EveryLine,
                         testing::Values(kOneToOneInOrder, kOneToOneWords, kOneTwoOne, kTwoToTwo,
                                         kTwoToTwoOfTwo, kBatches, kBroadcast, kZip, kFixed,
                                         kFanOut, kZipOfFanOuts, kLongWay, kProgram,
                                         kProgramOfBatches, kAnyOrder, kAnyOrderOfBatches),
                         [](const auto& line) { return line.param.name; });

/// What the protocol goes by, in words: a failure says what differs.
std::string words_of(const SharedShape& shape) {
  std::string text = concat(shape.index_spaces, " index spaces, ", shape.replicas, " replicas\n");
  for (const DerivedIndexSpace& of : shape.derived)
    text += concat("  ", of.index_space.value(), ": ", of.fan_out, " of ", of.above.value(), "\n");
  for (const StageShape& stage : shape.stages) {
    text += concat(stage.first_replica, "+", stage.replicas, " slots ", stage.slots, " fan-out ",
                   stage.fan_out, stage.source ? " source" : "",
                   stage.application ? " application" : "", "\n");
    for (const QueueShape& queue : stage.queues) {
      text += concat("  task ", queue.task, " window ", queue.window, " space ",
                     queue.index_space.value(), queue.in_order ? " in order" : "",
                     queue.fixed ? " fixed" : "", " from");
      for (const StageNumber input : queue.inputs) text += concat(" ", input.value());
      text += "\n";
    }
  }
  return text;
}

TEST_P(EveryLine, HasTheShapeThatThePlannerGivesIt) {
  ByStage<StageSpec> specs = GetParam().stages;
  SharedShape planned = support::planned_line(specs);
  const SharedShape made = support::line_shape(specs);
  EXPECT_EQ(words_of(made), words_of(planned));
  // Beside it: lists, which tests keep short, and counters.
  planned.replica_extra_bytes = made.replica_extra_bytes;
  planned.epoch_ends = made.epoch_ends;
  for (const StageNumber s : planned.stages.numbers()) {
    planned.stages[s].skips_max = made.stages[s].skips_max;
    planned.stages[s].quarantine_max = made.stages[s].quarantine_max;
  }
  EXPECT_EQ(made.hash(), planned.hash());  // words_of() has forgotten nothing
}

TEST(LineShape, ThatIsNotThePlannersIsNoticed) {
  ByStage<StageSpec> specs = kOneTwoOne.stages;
  const SharedShape planned = support::planned_line(specs);
  ++specs[1].slots;  // and with it the window
  EXPECT_NE(words_of(support::line_shape(specs)), words_of(planned));
}

// What waits in its work for those below it must have woken them.
const Line kTwoBatches = {"readers_of_two_and_three",
                          {{1, 1, 6, {}, true}, {1, 2, 0, {0}, true}, {1, 3, 0, {0}, true}},
                          6};

TEST(WakeUps, AreNotPutOffToTheNextFinish) {
  for (const Line& line : {kOneToOneInOrder, kOneToOneWords, kOneTwoOne, kTwoBatches, kFanOut}) {
    Scenario made = scenario(line);
    made.waits_for_below = true;
    expect_good(made);
  }
}

void first_waits_for_second(Scenario& scenario) { scenario.first_waits_for_second = true; }

// A task that takes long holds up none behind it, nor a program that sleeps until one is done.
TEST(WakeUps, ComeForWhatIsDoneAboveTheWatermark) {
  Scenario made = scenario(kAnyOrder);
  first_waits_for_second(made);
  expect_good(made);
}

TEST(Deaths, TwoOfTheSameReplica) {
  Scenario made = scenario(kTwoToTwo, 0);
  made.deaths = 2;
  expect_good(made);
}

TEST(Deaths, WithoutARestartTheOthersDoTheWork) {
  for (int victim : {0, 1}) {
    Scenario made = scenario(kTwoToTwo, StageNumber(victim));
    made.restart = false;
    expect_good(made);
  }
}

TEST(Deaths, ByAPoisonousSampleQuarantineIt) {
  for (const Line& line : {kOneToOneInOrder, kTwoToTwo}) {
    for (int victim : {0, 1}) {
      Scenario made = scenario(line, StageNumber(victim));
      made.poison = true;
      expect_good(made);
    }
  }
}

void stops_with(Scenario& scenario, WrongEnd end) {
  scenario.stop = true;
  scenario.wrong_end = end;
}

const Line kTwoToOne = {"two_to_one", {{2, 1, 2, {}}, {1, 1, 0, {0}, true}}, 4};

// --- what must be noticed ------------------------------------------------------------------------

struct Control {
  const char* name;
  Line line;
  StageNumber victim;
  void (*mistake)(Scenario&);
  const char* caught;  ///< how the failure begins

  friend void PrintTo(const Control& control, std::ostream* out) { *out << control.name; }
};

class NegativeControls : public testing::TestWithParam<Control> {};

TEST_P(NegativeControls, AreCaught) {
  for (const WakeOrder order : {WakeOrder::by_sleeper, WakeOrder::by_finisher}) {
    Scenario made = scenario(GetParam().line, GetParam().victim);
    made.wake_order = order;
    GetParam().mistake(made);
    EXPECT_THAT(caught(made), testing::StartsWith(GetParam().caught))
        << (order == WakeOrder::by_sleeper ? "sleepers" : "finishers") << " pay";
  }
}

const Control kControls[] = {
    {"AProgramThatWaitsForWhatItHolds", kProgram, -1,
     [](Scenario& s) { s.stages[1].ends_by_watermark = true; }, "deadlock"},
    {"AProgramThatWaitsForTheFirst", kProgram, -1, first_waits_for_second, "deadlock"},
    {"FinishersThatStorePlainlyMissWhoTakesWhatIsDone", kAnyOrder, -1,
     [](Scenario& s) {
       first_waits_for_second(s);
       s.wake_order = WakeOrder::by_finisher;  // else the barrier carries it, too
       s.mistakes.finish_is_a_plain_store = true;
     },
     "deadlock"},
    {"RepairWithoutReopening", kTwoToTwo, 0, [](Scenario& s) { s.rules.reopen = false; },
     "deadlock"},
    {"RepairWithoutCounting", kTwoToTwo, 0, [](Scenario& s) { s.restart = s.rules.count = false; },
     "deadlock"},
    {"RepairWithoutAdvancing", kTwoToTwo, 0, [](Scenario& s) { s.rules.advance = false; },
     "deadlock"},
    {"RepairWithoutRinging", kTwoToTwo, 0, [](Scenario& s) { s.rules.ring = false; }, "deadlock"},
    {"RepairWithoutClearing", kTwoToTwo, 1, [](Scenario& s) { s.restart = s.rules.clear = false; },
     "waiter bits were left"},
    {"RepairWithoutSettlingInOrder", kOneToOneInOrder, 0,
     [](Scenario& s) { s.rules.settle = false; }, "the audit"},
    {"RepairWithoutSettling", kOneToOneWords, 0, [](Scenario& s) { s.rules.settle = false; },
     "the audit"},
    {"ARestartBeforeTheRepair", kTwoToTwo, 0,
     [](Scenario& s) { s.mistakes.restarts_before_repair = true; }, "the audit"},
    {"ARepairOfSomebodyWhoOnlyStandsStill", kTwoToTwo, 0,
     [](Scenario& s) {
       s.deaths = 0;
       s.mistakes.repairs_the_living = true;
     },
     "task "},
    {"AQuarantineAfterTheTasksAreOpen", kTwoToTwo, 0,
     [](Scenario& s) { s.poison = s.mistakes.quarantines_late = true; }, "sample "},
    {"AnEndThatIsNoMultipleOfItsReadersTasks", kBatches, -1,
     [](Scenario& s) { stops_with(s, WrongEnd::not_rounded); }, ""},
    {"AnEndThatIsNoMultipleOfItsReadersRounds", kFixed, -1,
     [](Scenario& s) { stops_with(s, WrongEnd::not_rounded); }, ""},
    {"AnEndAtTheWatermarkForgetsWhatIsDoneAboveIt", kTwoToOne, 0,
     [](Scenario& s) {
       s.restart = false;
       stops_with(s, WrongEnd::of_watermark);
     },
     "task "},
    {"AnEndThatRingsNobody", kOneToOneInOrder, -1,
     [](Scenario& s) { stops_with(s, WrongEnd::without_doorbells); }, "deadlock"},
    {"FinishersThatStorePlainlyMissEachOther", kTwoToTwo, -1,
     [](Scenario& s) { s.mistakes.finish_is_a_plain_store = true; }, "deadlock"},
    {"ADelayedWaiterBitLosesAWake", kOneToOneInOrder, -1,
     [](Scenario& s) {
       s.wake_order = WakeOrder::by_finisher;  // else the barrier carries it, too
       s.mistakes.waiter_bits_are_delayed = true;
     },
     "deadlock"},
    {"ASleeperWithoutTheBarrierIsNeverWoken", kOneToOneInOrder, -1,
     [](Scenario& s) {
       s.wake_order = WakeOrder::by_sleeper;
       s.mistakes.no_barrier_everywhere = true;
     },
     "deadlock"},
    {"AFinisherThatLooksBeforeItStoresLosesAWake", kOneToOneInOrder, -1,
     [](Scenario& s) {
       s.wake_order = WakeOrder::by_sleeper;
       s.mistakes.order_is_not_kept = true;
     },
     "deadlock"},
    {"AFinisherThatPaysByAPlainStoreLosesAWake", kOneToOneInOrder, -1,
     [](Scenario& s) {
       s.wake_order = WakeOrder::by_finisher;
       s.mistakes.finish_is_a_plain_store = true;
     },
     "deadlock"},
    {"AClaimWithoutCompareAndSwapIsMadeTwice", kTwoToTwo, -1,
     [](Scenario& s) { s.mistakes.claims_are_not_atomic = true; }, "task "},
    {"AWatermarkMovedWithoutCompareAndSwapGoesDown", kTwoToTwo, -1,
     [](Scenario& s) { s.mistakes.watermarks_are_not_atomic = true; }, "the watermark"},
    {"ARingShorterThanTheWayToAZipIsADeadlock",
     {"",
      {{1, 1, 2, {}, true}, {1, 2, 4, {0}, true}, {1, 4, 4, {1}, true}, {1, 1, 0, {0, 2}, true}},
      8},
     -1,
     [](Scenario&) {},
     "deadlock"},
    {"ARingSmallerThanItsTasksIsADeadlock",
     {"", {{1, 1, 1, {}, true}, {1, 2, 0, {0}, true}}, 4},
     -1,
     [](Scenario&) {},
     "deadlock"}};

INSTANTIATE_TEST_SUITE_P(Rules, NegativeControls, testing::ValuesIn(kControls),
                         [](const auto& control) { return std::string(control.param.name); });

TEST(SteppingTest, NoStepIsForgotten) {  // a run is as long as it was
  const Exploration all = enumerate(scenario(kOneToOneWords, 0), 1'000'000);
  EXPECT_GT(all.states, 5000u);
  EXPECT_TRUE(all.complete);
}

}  // namespace
}  // namespace brigade::stepping
