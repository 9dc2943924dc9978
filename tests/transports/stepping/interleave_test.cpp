// Streams under `join: epochs`, step by step: the turns of their readers under every order of steps
// up to a bound, with a death at every step beside it.

#include <gtest/gtest.h>

#include "tests/transports/stepping/explore.h"
#include "tests/transports/stepping/stepped_interleave.h"

namespace brigade::stepping {
namespace {

/// A stream with two epochs that end at a multiple of L, and one with a short and an empty one.
InterleaveScenario two_streams(int readers, StageNumber victim = -1) {
  InterleaveScenario made;
  made.name = "two_streams";
  made.samples = {{1, 1}, {1, 0}};
  made.readers = readers;
  made.victim_stage = victim;
  made.detours = victim < 0 ? kEffort.detours : kEffort.detours_around_death;
  return made;
}

InterleaveScenario batches(int readers, StageNumber victim = -1) {
  InterleaveScenario made = two_streams(readers, victim);
  made.name = "batches";
  made.samples = {{2, 1}, {1, 2}};
  made.batch = 2;
  made.slots = 4;
  return made;
}

class InterleaveOf : public testing::TestWithParam<int> {};

TEST_P(InterleaveOf, NothingOfTheNextEpochComesBeforeTheOtherStreamsTurn) {
  expect_good(two_streams(GetParam()));
  expect_good(batches(GetParam()));
}

TEST_P(InterleaveOf, WhoeverDies) {
  for (const int victim : {0, 1, 2}) {
    expect_good(two_streams(GetParam(), StageNumber(victim)));
    expect_good(batches(GetParam(), StageNumber(victim)));
  }
}

INSTANTIATE_TEST_SUITE_P(Readers, InterleaveOf, testing::Values(1, 2));

TEST(InterleaveNegativeControls, AnEndThatIsRecordedTooLateLetsTheNextEpochComeFirst) {
  InterleaveScenario made = two_streams(1);
  made.records_late = true;
  const Exploration all = enumerate(made, 200'000);
  EXPECT_NE(all.failure.find("came before 0 of stream 1"), std::string::npos) << all.failure;
}

}  // namespace
}  // namespace brigade::stepping
