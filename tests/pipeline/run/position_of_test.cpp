#include "pipeline/run/position_of.h"

#include <gtest/gtest.h>

#include "pipeline/plan/lane_number.h"
#include "tests/support/number_line.h"

namespace brigade {
namespace {

/// The sink of a line of 100 samples in 2 epochs, batches of 64; its mark is moved by hand.
class PositionOf : public testing::Test {
 protected:
  PositionOf() : graph_(support::number_graph(line())), run_(graph_) {
    set_end(run_.control(), 0, 100, 128, 2);
  }
  static support::NumberLine line() {
    support::NumberLine line;
    line.samples = 100;
    line.batch = 64;
    return line;
  }
  Position at(std::uint64_t number) {
    run_.lane("sink").mark->low.value.store(number);
    return position_of(run_.plan(), run_.control(), run_.index("sink"));
  }

  GraphBuilder graph_;
  support::RunLine run_;
};

TEST_F(PositionOf, IsEpochAndIndex) {
  EXPECT_EQ(at(0).lanes, (std::vector<LanePosition>{{0, 0}}));
  EXPECT_EQ(at(64).lanes, (std::vector<LanePosition>{{0, 64}}));
  EXPECT_EQ(at(128 + 64).lanes, (std::vector<LanePosition>{{1, 64}}));
}

TEST_F(PositionOf, WhereOnlyPaddingIsLeftTheNextEpochBegins) {
  EXPECT_EQ(at(128).lanes, (std::vector<LanePosition>{{1, 0}}));
  EXPECT_EQ(at(100).lanes, (std::vector<LanePosition>{{1, 0}}));
  EXPECT_EQ(at(256).lanes, (std::vector<LanePosition>{{2, 0}}));
}

TEST_F(PositionOf, SaysWhatTheSourcesWere) {
  run_.context("numbers").words().fingerprint->value.store(77);
  EXPECT_EQ(at(64).sources, (std::vector<SourceFacts>{{"numbers", 100, 77}}));
}

TEST_F(PositionOf, CountsWhatWasConsumedAndToldSoFar) {
  run_.context("sink").replica_words().ended.value.store(1);
  const Position position = at(64);
  EXPECT_EQ(position.epoch_ends_told, 1u);
  EXPECT_EQ(position.samples, 64u);
}

TEST_F(PositionOf, NamesWhatIsInQuarantine) {
  run_.context("mix").words().quarantine.append(lane_number(0, 128 + 5));
  EXPECT_EQ(at(64).quarantined, (std::vector<SamplePlace>{{"mix", 0, 1, 5}}));
}

TEST_F(PositionOf, NamesEachSampleOnceThatFailed) {
  GraphBuilder graph = support::number_graph(line());
  graph.stage("mix").on_error = {true, 5, 0};
  support::RunLine run(graph, [](Plan& plan) { plan.stages[1].skipped = {{0, 0, 5}}; });
  set_end(run.control(), 0, 100, 128, 2);
  const int sink = run.index("sink");
  std::uint64_t again = 128;  // the same sample in epoch 1
  while (Permutation(100, 7, 1)(again - 128) != Permutation(100, 7, 0)(5)) ++again;
  run.context("mix").words().skips.append(lane_number(0, again));
  const std::uint64_t other = again == 130 ? 131 : 130;
  run.context("mix").words().skips.append(lane_number(0, other));
  EXPECT_EQ(position_of(run.plan(), run.control(), sink).skipped,
            (std::vector<SamplePlace>{{"mix", 0, 0, 5}, {"mix", 0, 1, other - 128}}));
}

TEST_F(PositionOf, OfAShareOfAnEpochNamesThoseOfThatEpoch) {
  GraphBuilder graph = support::number_graph(line());
  graph.stage("mix").on_error = {true, 0, 5};
  support::RunLine run(graph, [](Plan& plan) { plan.stages[1].skipped = {{0, 0, 5}}; });
  set_end(run.control(), 0, 100, 128, 2);
  run.context("mix").words().skips.append(lane_number(0, 128 + 3));
  run.lane("sink").mark->low.value.store(128);
  EXPECT_EQ(position_of(run.plan(), run.control(), run.index("sink")).skipped,
            (std::vector<SamplePlace>{{"mix", 0, 1, 3}}));
}

TEST_F(PositionOf, BeforeTheSourcesHaveOpenedItIsThatOfThePlan) {
  GraphBuilder graph = support::number_graph(line());
  support::RunLine run(graph, [](Plan& plan) {
    plan.domains[0].samples = 100;
    plan.domains[0].start = 128;
    for (PlanStage& stage : plan.stages)
      if (stage.kind == StageKind::consumer) stage.lanes[0].resume_at = 128 + 64;
  });
  const Position position = position_of(run.plan(), run.control(), run.index("sink"));
  EXPECT_EQ(position.lanes, (std::vector<LanePosition>{{1, 64}}));
  EXPECT_EQ(position.sources[0].samples, 100u);
}

TEST_F(PositionOf, IsExactAnywhereWhereEpochsHaveOneLength) {
  at(64);
  EXPECT_TRUE(position_is_exact(run_.plan(), run_.control(), run_.index("sink")));
}

TEST(PositionBelowFreeNumbering, IsTheBeginningOfItsEpoch) {
  GraphBuilder graph = support::number_graph({});
  graph.transform("again", {"mix"}, {support::kValue});
  graph.type_of("again").contract.numbering = Numbering::free;
  graph.consumer("last", {"again"});
  support::RunLine run(graph);
  const int last = run.index("last");
  const auto domain = static_cast<std::size_t>(run.stage("last").lanes[0].domain);
  run.lane("last").mark->low.value.store(64);
  EXPECT_EQ(position_of(run.plan(), run.control(), last).lanes,
            (std::vector<LanePosition>{{0, 0}}));
  EXPECT_FALSE(position_is_exact(run.plan(), run.control(), last));
  run.control().epoch_ends[domain].record(0, 64);
  EXPECT_EQ(position_of(run.plan(), run.control(), last).lanes,
            (std::vector<LanePosition>{{1, 0}}));
  EXPECT_TRUE(position_is_exact(run.plan(), run.control(), last));
}

TEST(PositionBelowFreeNumbering, OfAResumedRunIsNotBeforeTheEpochItBeganWith) {
  support::NumberLine line;
  line.epochs = 4;
  GraphBuilder graph = support::number_graph(line);
  graph.transform("again", {"mix"}, {support::kValue});
  graph.type_of("again").contract.numbering = Numbering::free;
  graph.consumer("last", {"again"}).on_error = {true, 5, 0};
  support::RunLine run(graph, [](Plan& plan) {
    plan.stages.back().lanes[0].resume_epoch = 2;
    plan.stages.back().skipped = {{0, 0, 5}};
  });
  const int last = run.index("last");
  const auto domain = static_cast<std::size_t>(run.stage("last").lanes[0].domain);
  const auto at = [&](std::uint64_t number) {
    run.lane("last").mark->low.value.store(number);
    return position_of(run.plan(), run.control(), last);
  };
  run.control().epoch_ends[domain].record(0, 0);  // the run began with epoch 1
  EXPECT_EQ(at(3).lanes, (std::vector<LanePosition>{{2, 0}}));
  run.control().epoch_ends[domain].record(1, 64);
  EXPECT_EQ(at(0).lanes, (std::vector<LanePosition>{{2, 0}}));
  EXPECT_FALSE(position_is_exact(run.plan(), run.control(), last)) << "other sources go on";
  EXPECT_EQ(at(64).lanes, (std::vector<LanePosition>{{2, 0}}));
  EXPECT_TRUE(position_is_exact(run.plan(), run.control(), last));
  EXPECT_EQ(at(70).lanes, (std::vector<LanePosition>{{2, 0}}));
  EXPECT_FALSE(position_is_exact(run.plan(), run.control(), last));
  run.control().epoch_ends[domain].record(2, 128);
  EXPECT_EQ(at(128).lanes, (std::vector<LanePosition>{{3, 0}}));
  run.context("last").words().skips.append(70);
  EXPECT_EQ(at(128).skipped, (std::vector<SamplePlace>{{"last", 0, 0, 5}, {"last", 0, 2, 6}}));
}

}  // namespace
}  // namespace brigade
