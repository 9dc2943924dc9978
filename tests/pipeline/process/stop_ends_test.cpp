#include "pipeline/process/stop_ends.h"

#include <gtest/gtest.h>

#include "base/text.h"
#include "pipeline/process/segments.h"
#include "tests/support/small_plan.h"
#include "transports/stop.h"

namespace brigade {
namespace {

/// train (100 samples, batches of 16: 112 numbers an epoch) and test (40, 48 numbers), of which
/// `consumer` takes epochs in turn; 3 epochs.
struct StopEnds : testing::Test {
  /// `anew`: what of them is numbered anew on the way.
  explicit StopEnds(Join join = Join::epochs, const std::string& anew = "") {
    GraphBuilder graph("two");
    graph.graph().epochs = 3;
    std::vector<std::string> ends;
    for (const std::string source : {"train", "test"}) {
      graph.producer(source, {{"value", i64, {}}}).rows = 16;
      ends.push_back(source);
      if (source != anew) continue;
      ends.back() = concat("full_", source);
      graph.transform(ends.back(), {source}, {{"value", i64, {}}});
      graph.type_of(ends.back()).contract.numbering = Numbering::free;
    }
    ValidStage& end = graph.consumer("end", ends, join);
    end.batched = true;
    for (ValidSource& source : end.sources) source.batch = 16;
    plan = plan_of(graph);
    segments = Segments::create(plan, "{}").value();
    set_end(control(), domain("train"), 100, 112, 3);
    set_end(control(), domain("test"), 40, 48, 3);
  }
  Control<SystemPolicy>& control() { return segments->control(); }
  std::size_t index(const std::string& name) const {
    for (std::size_t s = 0; s < plan.stages.size(); ++s)
      if (plan.stages[s].name == name) return s;
    ADD_FAILURE() << name;
    return 0;
  }
  int domain(const std::string& name) const { return plan.stages[index(name)].lanes[0].domain; }
  void claimed(const std::string& name, std::uint64_t number) {
    control().stages[index(name)].lanes[0].mark->low.value.store(number);
  }
  /// The ends of train and test when these numbers have been claimed.
  std::pair<std::uint64_t, std::uint64_t> ends(std::uint64_t train, std::uint64_t test) {
    claimed("train", train);
    claimed("test", test);
    const std::vector<std::uint64_t> all = stop_ends(plan, control());
    return {all[static_cast<std::size_t>(domain("train"))],
            all[static_cast<std::size_t>(domain("test"))]};
  }

  Plan plan;
  std::unique_ptr<Segments> segments;
};
using Ends = std::pair<std::uint64_t, std::uint64_t>;

TEST_F(StopEnds, InTheFirstTurnEachEndsWhereItStands) {
  EXPECT_EQ(ends(32, 0), Ends(32, 0));
  EXPECT_EQ(ends(0, 0), Ends(0, 0));
}

TEST_F(StopEnds, WhatALaterTurnHasClaimedWaitsForTheEarlierOne) {
  EXPECT_EQ(ends(32, 16), Ends(112, 16));  // a batch of the test needs the epoch before it
  EXPECT_EQ(ends(112, 48), Ends(112, 48));
}

TEST_F(StopEnds, WhatTheNextEpochHasClaimedWaitsForTheLastTurnOfThisOne) {
  EXPECT_EQ(ends(128, 16), Ends(128, 48));
  EXPECT_EQ(ends(128, 64), Ends(224, 64));  // the test has begun its second epoch as well
  EXPECT_EQ(ends(336, 0), Ends(336, 96));   // all of train: two epochs of the test lie between
}

struct StopEndsOfMerge : StopEnds {
  StopEndsOfMerge() : StopEnds(Join::merge) {}
};

struct StopEndsOfTrainNumberedAnew : StopEnds {
  StopEndsOfTrainNumberedAnew() : StopEnds(Join::epochs, "train") {}
};

TEST_F(StopEndsOfTrainNumberedAnew, TheTurnsAreThoseOfItsSource) {
  EXPECT_EQ(ends(32, 0), Ends(32, 0));
  EXPECT_EQ(ends(32, 16), Ends(112, 16));
  EXPECT_EQ(ends(128, 16), Ends(128, 48));
}

struct StopEndsOfTestNumberedAnew : StopEnds {
  StopEndsOfTestNumberedAnew() : StopEnds(Join::epochs, "test") {}
};

TEST_F(StopEndsOfTestNumberedAnew, TheTurnsAreThoseOfItsSource) {
  EXPECT_EQ(ends(32, 0), Ends(32, 0));
  EXPECT_EQ(ends(32, 16), Ends(112, 16));
  EXPECT_EQ(ends(128, 16), Ends(128, 48));
}

TEST_F(StopEndsOfMerge, ThereAreNoTurns) { EXPECT_EQ(ends(128, 16), Ends(128, 16)); }

}  // namespace
}  // namespace brigade
