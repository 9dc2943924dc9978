// A flat_map stage, step by step: under every order of steps up to a bound,
// with a death at every step beside it.

#include <gtest/gtest.h>

#include "tests/transports/stepping/explore.h"
#include "tests/transports/stepping/stepped_merge.h"

namespace brigade::stepping {
namespace {

MergeScenario repack(int deaths) {
  MergeScenario made;
  made.name = "one_source";
  made.samples = {{4}};
  made.deaths = deaths;
  made.victim_stage = StageNumber(deaths > 0 ? 1 : -1);
  made.detours = deaths > 0 ? kEffort.detours_around_death : kEffort.detours;
  return made;
}

MergeScenario merge(int deaths) {
  MergeScenario made = repack(deaths);
  made.name = "two_sources";
  made.samples = {{3}, {3}};
  if (deaths > 0) made.victim_stage = 2;
  made.output_slots = 4;
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
  made.slot_io = 4;
  made.output_slots = 4;
  return made;
}

/// Whose next epoch may follow with the very next slot.
MergeScenario stream(int deaths) {
  MergeScenario made = repack(deaths);
  made.name = "stream";
  made.streams = true;
  made.samples = {{2, 3}};
  return made;
}

TEST(FlatMap, HoldsInEveryOrderOfSteps) {
  expect_good(repack(0));
  expect_good(merge(0));
  expect_good(two_epochs(0));
}

TEST(FlatMap, GivesEachSampleOfAStreamUnderItsEpoch) {
  expect_good(stream(0));
  expect_good(streams(0));
}

TEST(FlatMap, NeitherLosesNorRepeatsAnOutputWhereverItDies) {
  for (const MergeScenario& made : {repack(1), merge(1), two_epochs(1), stream(1), streams(1)})
    expect_good(made);
}

TEST(FlatMap, TheSlowerOfTwoReadersKeepsTheSlots) {
  for (const int deaths : {0, 1}) {
    MergeScenario made = repack(deaths);
    made.name = "two_readers";
    made.samples = {{3}};
    made.batch = 1;
    made.readers = 2;
    expect_good(made);
  }
}

TEST(FlatMap, NorWhereverItsSourceDies) {
  for (MergeScenario made : {stream(1), streams(1)}) {
    made.victim_stage = 0;
    expect_good(made);
  }
}

TEST(FlatMap, DrainsWhenStoppedAtAnyTimeAndWhoeverDies) {
  for (const int deaths : {0, 1}) {
    for (MergeScenario made :
         {repack(deaths), merge(deaths), two_epochs(deaths), stream(deaths), streams(deaths)}) {
      made.stop = true;
      made.detours = kEffort.detours_around_death;
      expect_good(made);
    }
  }
}

TEST(FlatMap, NorWhenItDiesTwice) {
  MergeScenario made = repack(2);
  made.samples = {{3}};
  made.detours = 0;
  expect_good(made);
}

// --- what must be noticed ------------------------------------------------------------------------

TEST(FlatMapNegativeControls, ASuccessorThatWritesAllOutputsAgainRepeatsSome) {
  MergeScenario made = repack(1);
  made.repeats_outputs = true;
  EXPECT_EQ(caught(made), "outputs were lost, repeated or mixed up");
}

TEST(FlatMapNegativeControls, AJournalThatIsNotSettledRepeatsAnInput) {
  MergeScenario made = repack(1);
  made.rules.settle = false;
  EXPECT_NE(caught(made), "nothing");
}

TEST(FlatMapNegativeControls, AnEndThatIsRecordedTooLateLabelsASlotWrongly) {
  MergeScenario made = stream(0);
  made.records_late = true;
  EXPECT_EQ(caught(made), "sample 2 of source 0, of epoch 1, was given in epoch 0");
}

}  // namespace
}  // namespace brigade::stepping
