#include "pipeline/run/supervisor/drain_points.h"

#include <gtest/gtest.h>

#include <brigade/text.h>
#include "pipeline/memory/shared_segments.h"
#include "tests/support/small_plan.h"
#include "transports/stop.h"

namespace brigade {
namespace {

/// train (100 samples, batches of 16: 112 numbers an epoch) and test (40, 48 numbers), of which
/// `consumer` takes epochs in turn; 3 epochs.
struct DrainPoints : testing::Test {
  /// `anew`: what of them is numbered anew on the way.
  explicit DrainPoints(Join join = Join::epochs, const std::string& anew = "") {
    GraphBuilder graph("two");
    graph.graph().epochs = 3;
    std::vector<std::string> ends;
    for (const std::string source : {"train", "test"}) {
      graph.producer(source, {{"value", i64, {}}}).chunk = 16;
      ends.push_back(source);
      if (source != anew) continue;
      ends.back() = concat("full_", source);
      graph.transform(ends.back(), {source}, {{"value", i64, {}}});
      graph.type_of(ends.back()).contract.numbering = Numbering::flat_map;
    }
    ValidStage& end = graph.consumer("end", ends, join);
    end.batched = true;
    for (ValidSource& source : end.sources) source.batch = 16;
    plan = plan_of(graph);
    segments = SharedSegments::create(plan, {}).value();
    set_end(control(), index_space("train"), 100, 112, 3);
    set_end(control(), index_space("test"), 40, 48, 3);
  }
  Control<SystemPolicy>& control() { return segments->control(); }
  StageNumber index(const std::string& name) const {
    for (const StageNumber s : plan.stages.numbers())
      if (plan.stages[s].name == name) return s;
    ADD_FAILURE() << name;
    return 0;
  }
  IndexSpaceNumber index_space(const std::string& name) const {
    return plan.stages[index(name)].queues[0].index_space;
  }
  void claimed(const std::string& name, std::uint64_t number) {
    control().stages[index(name)].queues[0].watermark->level.value.store(number);
  }
  /// The ends of train and test when these numbers have been claimed.
  std::pair<std::uint64_t, std::uint64_t> ends(std::uint64_t train, std::uint64_t test) {
    claimed("train", train);
    claimed("test", test);
    const ByIndexSpace<std::uint64_t> all = drain_points(plan, control());
    return {all[index_space("train")], all[index_space("test")]};
  }

  Plan plan;
  std::unique_ptr<SharedSegments> segments;
};
using Ends = std::pair<std::uint64_t, std::uint64_t>;

TEST_F(DrainPoints, InTheFirstTurnEachEndsWhereItStands) {
  EXPECT_EQ(ends(32, 0), Ends(32, 0));
  EXPECT_EQ(ends(0, 0), Ends(0, 0));
}

TEST_F(DrainPoints, WhatALaterTurnHasClaimedWaitsForTheEarlierOne) {
  EXPECT_EQ(ends(32, 16), Ends(112, 16));  // a batch of the test needs the epoch before it
  EXPECT_EQ(ends(112, 48), Ends(112, 48));
}

TEST_F(DrainPoints, WhatTheNextEpochHasClaimedWaitsForTheLastTurnOfThisOne) {
  EXPECT_EQ(ends(128, 16), Ends(128, 48));
  EXPECT_EQ(ends(128, 64), Ends(224, 64));  // the test has begun its second epoch as well
  EXPECT_EQ(ends(336, 0), Ends(336, 96));   // all of train: two epochs of the test lie between
}

struct DrainPointsOfMerge : DrainPoints {
  DrainPointsOfMerge() : DrainPoints(Join::merge) {}
};

struct DrainPointsOfTrainFlatMapped : DrainPoints {
  DrainPointsOfTrainFlatMapped() : DrainPoints(Join::epochs, "train") {}
};

TEST_F(DrainPointsOfTrainFlatMapped, TheTurnsAreThoseOfItsSource) {
  EXPECT_EQ(ends(32, 0), Ends(32, 0));
  EXPECT_EQ(ends(32, 16), Ends(112, 16));
  EXPECT_EQ(ends(128, 16), Ends(128, 48));
}

struct DrainPointsOfTestFlatMapped : DrainPoints {
  DrainPointsOfTestFlatMapped() : DrainPoints(Join::epochs, "test") {}
};

TEST_F(DrainPointsOfTestFlatMapped, TheTurnsAreThoseOfItsSource) {
  EXPECT_EQ(ends(32, 0), Ends(32, 0));
  EXPECT_EQ(ends(32, 16), Ends(112, 16));
  EXPECT_EQ(ends(128, 16), Ends(128, 48));
}

TEST_F(DrainPointsOfMerge, ThereAreNoTurns) { EXPECT_EQ(ends(128, 16), Ends(128, 16)); }

}  // namespace
}  // namespace brigade
