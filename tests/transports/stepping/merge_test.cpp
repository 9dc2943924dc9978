// The lanes and the journal of a stage that numbers its outputs freely, step by step: under every
// order of steps up to a bound, with a death at every step beside it.

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
  made.samples = 4;
  made.deaths = deaths;
  made.detours = deaths > 0 ? kEffort.detours_around_death : kEffort.detours;
  return made;
}

MergeScenario merge(int deaths) {
  MergeScenario made = repack(deaths);
  made.name = "two_sources";
  made.sources = 2;
  made.samples = 3;
  made.output_rows = 4;
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
}

TEST(FreeNumbering, NeitherLosesNorRepeatsAnOutputWhereverItDies) {
  expect_good(repack(1));
  expect_good(merge(1));
}

TEST(FreeNumbering, NorWhenItDiesTwice) {
  MergeScenario made = repack(2);
  made.samples = 3;
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

}  // namespace
}  // namespace brigade::stepping
