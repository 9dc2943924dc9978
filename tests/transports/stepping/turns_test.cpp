// Streams under `join: epochs`, step by step: the turns of their readers under every order of steps
// up to a bound, with a death at every step beside it.

#include <gtest/gtest.h>

#include <iostream>

#include "tests/transports/stepping/effort.h"
#include "tests/transports/stepping/explore.h"
#include "tests/transports/stepping/stepped_turns.h"

namespace brigade::stepping {
namespace {

/// A stream with two epochs that end at a multiple of L, and one with a short and an empty one.
TurnsScenario two_streams(int readers, int victim = -1) {
  TurnsScenario made;
  made.name = "two_streams";
  made.samples = {{1, 1}, {1, 0}};
  made.readers = readers;
  made.victim_stage = victim;
  made.detours = victim < 0 ? kEffort.detours : kEffort.detours_around_death;
  return made;
}

TurnsScenario batches(int readers, int victim = -1) {
  TurnsScenario made = two_streams(readers, victim);
  made.name = "batches";
  made.samples = {{2, 1}, {1, 2}};
  made.batch = 2;
  made.rows = 4;
  return made;
}

void expect_good(const TurnsScenario& made) {
  const Exploration all = enumerate<SteppedTurns>(made, kEffort.runs_max);
  EXPECT_EQ(all.failure, "") << made.name;
  std::cout << "  " << made.name << ", " << made.readers << " readers, victim in stage "
            << made.victim_stage << ", " << made.detours << " detours: " << all.runs << " runs, "
            << all.states << " states" << (all.complete ? "" : " (cut)") << "\n";
  const Exploration some = walk<SteppedTurns>(made, 1, kEffort.random_runs);
  EXPECT_EQ(some.failure, "") << made.name;
}

class TurnsOf : public testing::TestWithParam<int> {};

TEST_P(TurnsOf, NothingOfTheNextEpochComesBeforeTheOtherStreamsTurn) {
  expect_good(two_streams(GetParam()));
  expect_good(batches(GetParam()));
}

TEST_P(TurnsOf, WhoeverDies) {
  for (const int victim : {0, 1, 2}) {
    expect_good(two_streams(GetParam(), victim));
    expect_good(batches(GetParam(), victim));
  }
}

INSTANTIATE_TEST_SUITE_P(Readers, TurnsOf, testing::Values(1, 2));

TEST(TurnsNegativeControls, AnEndThatIsRecordedTooLateLetsTheNextEpochComeFirst) {
  TurnsScenario made = two_streams(1);
  made.records_late = true;
  const Exploration all = enumerate<SteppedTurns>(made, 200'000);
  EXPECT_NE(all.failure.find("came before 0 of stream 1"), std::string::npos) << all.failure;
}

}  // namespace
}  // namespace brigade::stepping
