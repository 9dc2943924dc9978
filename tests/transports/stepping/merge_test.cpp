// A stage that numbers its outputs freely, step by step: under every order of steps up to a bound,
// with a death at every step beside it.

#include <gtest/gtest.h>

#include <iostream>

#include "tests/transports/stepping/effort.h"
#include "tests/transports/stepping/explore.h"
#include "tests/transports/stepping/stepped_merge.h"

namespace brigade::stepping {
namespace {

MergeScenario repack(int deaths) {
  MergeScenario made;
  made.name = "one_source";
  made.samples = {{4}};
  made.deaths = deaths;
  made.victim_stage = deaths > 0 ? 1 : -1;
  made.detours = deaths > 0 ? kEffort.detours_around_death : kEffort.detours;
  return made;
}

MergeScenario merge(int deaths) {
  MergeScenario made = repack(deaths);
  made.name = "two_sources";
  made.samples = {{3}, {3}};
  if (deaths > 0) made.victim_stage = 2;
  made.output_rows = 4;
  return made;
}

/// Epochs of one length, the second as long as the first.
MergeScenario two_epochs(int deaths) {
  MergeScenario made = repack(deaths);
  made.name = "two_epochs";
  made.samples = {{3, 3}};
  return made;
}

/// Streams with an epoch that ends at a multiple of L, one that does not, and an empty one.
MergeScenario streams(int deaths) {
  MergeScenario made = repack(deaths);
  made.name = "streams";
  made.streams = true;
  made.samples = {{2, 1}, {3, 0}};
  if (deaths > 0) made.victim_stage = 2;
  made.input_multiple = 2;
  made.input_rows = 4;
  made.output_rows = 4;
  return made;
}

/// Whose next epoch may follow with the very next row.
MergeScenario stream(int deaths) {
  MergeScenario made = repack(deaths);
  made.name = "stream";
  made.streams = true;
  made.samples = {{2, 3}};
  return made;
}

void expect_good(const MergeScenario& made) {
  const Exploration all = enumerate<SteppedMerge>(made, kEffort.runs_max);
  EXPECT_EQ(all.failure, "") << made.name;
  std::cout << "  " << made.name << ", " << made.deaths << " deaths, " << made.detours
            << " detours: " << all.runs << " runs, " << all.states << " states"
            << (all.complete ? "" : " (cut)") << "\n";
  const Exploration some = walk<SteppedMerge>(made, 1, kEffort.random_runs);
  EXPECT_EQ(some.failure, "") << made.name;
}

TEST(FreeNumbering, HoldsInEveryOrderOfSteps) {
  expect_good(repack(0));
  expect_good(merge(0));
  expect_good(two_epochs(0));
}

TEST(FreeNumbering, GivesEachSampleOfAStreamUnderItsEpoch) {
  expect_good(stream(0));
  expect_good(streams(0));
}

TEST(FreeNumbering, NeitherLosesNorRepeatsAnOutputWhereverItDies) {
  for (const MergeScenario& made : {repack(1), merge(1), two_epochs(1), stream(1), streams(1)})
    expect_good(made);
}

TEST(FreeNumbering, NorWhereverItsSourceDies) {
  for (MergeScenario made : {stream(1), streams(1)}) {
    made.victim_stage = 0;
    expect_good(made);
  }
}

TEST(FreeNumbering, RunsDryWhenStoppedAtAnyTimeAndWhoeverDies) {
  for (const int deaths : {0, 1}) {
    for (MergeScenario made :
         {repack(deaths), merge(deaths), two_epochs(deaths), stream(deaths), streams(deaths)}) {
      made.stop = true;
      made.detours = kEffort.detours_around_death;
      expect_good(made);
    }
  }
}

TEST(FreeNumbering, NorWhenItDiesTwice) {
  MergeScenario made = repack(2);
  made.samples = {{3}};
  made.detours = 0;
  expect_good(made);
}

// --- what must be noticed ------------------------------------------------------------------------

std::string caught(MergeScenario made) {
  for (made.detours = 0; made.detours <= 2; ++made.detours) {
    const Exploration all = enumerate<SteppedMerge>(made, 200'000);
    if (!all.failure.empty()) return all.failure.substr(0, all.failure.find('\n'));
  }
  return "nothing";
}

TEST(FreeNumberingNegativeControls, ASuccessorThatWritesAllOutputsAgainRepeatsSome) {
  MergeScenario made = repack(1);
  made.repeats_outputs = true;
  EXPECT_EQ(caught(made), "outputs were lost, repeated or mixed up");
}

TEST(FreeNumberingNegativeControls, AJournalThatIsNotSettledRepeatsAnInput) {
  MergeScenario made = repack(1);
  made.rules.settle = false;
  EXPECT_NE(caught(made), "nothing");
}

TEST(FreeNumberingNegativeControls, AnEndThatIsRecordedTooLateLabelsARowWrongly) {
  MergeScenario made = stream(0);
  made.records_late = true;
  EXPECT_EQ(caught(made), "sample 2 of source 0, of epoch 1, was given in epoch 0");
}

}  // namespace
}  // namespace brigade::stepping
