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
  EXPECT_EQ(at(64).quarantined, (std::vector<QuarantinedPlace>{{"mix", 0, 1, 5}}));
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

}  // namespace
}  // namespace brigade
