#include "pipeline/plan/lanes.h"

#include <gtest/gtest.h>

#include "tests/support/graph_builder.h"

namespace brigade {
namespace {

const Ports kRow{{"x", u8, {8}}};

struct Numbered {
  Plan plan;
  PlanProblems problems;
};

Numbered number(GraphBuilder& builder) {
  const ValidGraph& graph = builder.build();
  Numbered result;
  result.plan.stages.resize(graph.stages.size());
  make_lanes(graph, result.plan);
  number_domains(graph, result.plan, result.problems);
  return result;
}

using Reader = std::pair<int, int>;

TEST(Lanes, AStageHasOneWithAllItsZippedInputs) {
  GraphBuilder graph;
  graph.producer("a", kRow);
  graph.producer("b", kRow);
  graph.consumer("c", {"a", "b"}, Join::zip);
  const Plan plan = number(graph).plan;
  ASSERT_EQ(plan.stages[2].lanes.size(), 1u);
  ASSERT_EQ(plan.stages[2].lanes[0].inputs.size(), 2u);
  EXPECT_EQ(plan.stages[2].lanes[0].inputs[1].stage, 1);
  EXPECT_EQ(plan.stages[2].lanes[0].inputs[1].port, "b");
  EXPECT_EQ(plan.stages[2].lanes[0].inputs[1].tensors, std::vector<std::string>{"x"});
}

TEST(Lanes, EpochsAndMergeHaveOnePerSource) {
  for (const Join join : {Join::epochs, Join::merge}) {
    GraphBuilder graph;
    graph.producer("a", kRow);
    graph.producer("b", kRow);
    graph.consumer("c", {"a", "b"}, join);
    const Plan plan = number(graph).plan;
    ASSERT_EQ(plan.stages[2].lanes.size(), 2u);
    EXPECT_EQ(plan.stages[0].readers, std::vector<Reader>({{2, 0}}));
    EXPECT_EQ(plan.stages[1].readers, std::vector<Reader>({{2, 1}}));
  }
}

TEST(Lanes, BroadcastHasEveryReader) {
  GraphBuilder graph;
  graph.producer("a", kRow);
  graph.consumer("b", {"a"});
  graph.consumer("c", {"a"});
  EXPECT_EQ(number(graph).plan.stages[0].readers, std::vector<Reader>({{1, 0}, {2, 0}}));
}

TEST(Lanes, AStageZippedWithItselfReadsItOnce) {
  GraphBuilder graph;
  graph.producer("a", kRow);
  graph.consumer("b", {"a", "a"}, Join::zip);
  EXPECT_EQ(number(graph).plan.stages[0].readers, std::vector<Reader>({{1, 0}}));
}

TEST(Domains, ProducersApartNumberApart) {
  GraphBuilder graph;
  graph.producer("a", kRow);
  graph.transform("a2", {"a"}, kRow);
  graph.producer("b", kRow);
  graph.consumer("c", {"a2", "b"}, Join::epochs);
  const Numbered result = number(graph);
  EXPECT_TRUE(result.problems.empty());
  ASSERT_EQ(result.plan.domains.size(), 2u);
  EXPECT_EQ(result.plan.domains[0].sources, std::vector<int>{0});
  EXPECT_EQ(result.plan.domains[1].sources, std::vector<int>{2});
  EXPECT_EQ(result.plan.stages[3].lanes[0].domain, 0);
  EXPECT_EQ(result.plan.stages[3].lanes[1].domain, 1);
}

TEST(Domains, AZipJoinsThoseOfItsSourcesAndOfEveryOtherReader) {
  GraphBuilder graph;
  graph.producer("a", kRow);
  graph.producer("b", kRow);
  graph.transform("ab", {"a", "b"}, kRow, Join::zip);
  graph.consumer("c", {"ab"});
  graph.consumer("d", {"b"});
  const Plan plan = number(graph).plan;
  ASSERT_EQ(plan.domains.size(), 1u);
  EXPECT_EQ(plan.domains[0].sources, (std::vector<int>{0, 1}));
  for (const PlanStage& stage : plan.stages) EXPECT_EQ(stage.lanes[0].domain, 0);
}

TEST(Domains, AZipFarBelowJoinsWhatIsAboveIt) {
  GraphBuilder graph;
  graph.producer("a", kRow);
  graph.producer("b", kRow);
  graph.producer("c", kRow);
  graph.transform("bc", {"b", "c"}, kRow, Join::zip);
  graph.transform("abc", {"a", "bc"}, kRow, Join::zip);
  graph.consumer("d", {"abc"});
  EXPECT_EQ(number(graph).plan.domains.size(), 1u);
}

TEST(EpochOrder, IsFineWhereAllStagesAgree) {
  GraphBuilder graph;
  graph.producer("a", kRow);
  graph.producer("b", kRow);
  graph.producer("c", kRow);
  graph.consumer("ab", {"a", "b"}, Join::epochs);
  graph.consumer("bc", {"b", "c"}, Join::epochs);
  graph.consumer("ac", {"a", "c"}, Join::epochs);
  EXPECT_TRUE(number(graph).problems.empty());
}

TEST(EpochOrder, RefusesTwoSourcesOfOneProducer) {
  GraphBuilder graph;
  graph.producer("images", kRow);
  graph.transform("flipped", {"images"}, kRow);
  graph.consumer("train", {"flipped", "images"}, Join::epochs);
  const PlanProblems problems = number(graph).problems;
  ASSERT_EQ(problems.size(), 1u);
  EXPECT_EQ(problems[0].stage, "train");
  EXPECT_EQ(problems[0].mark.line, 3);
  EXPECT_EQ(problems[0].message,
            "join: epochs cannot read \"flipped\" and then \"images\": both come from \"images\", "
            "which cannot finish an epoch for one while the other waits");
  EXPECT_EQ(problems[0].help, "give each source a producer of its own, or use join: zip");
}

TEST(EpochOrder, RefusesStagesThatWaitForEachOther) {
  GraphBuilder graph;
  graph.producer("a", kRow);
  graph.producer("b", kRow);
  graph.producer("c", kRow);
  graph.consumer("ab", {"a", "b"}, Join::epochs);
  graph.consumer("bc", {"b", "c"}, Join::epochs);
  graph.consumer("ca", {"c", "a"}, Join::epochs);
  const PlanProblems problems = number(graph).problems;
  ASSERT_EQ(problems.size(), 1u);
  EXPECT_EQ(problems[0].stage, "ca");
  EXPECT_EQ(problems[0].message,
            "join: epochs reads \"c\" before \"a\", but other stages read their producers the "
            "other way round: each would wait for the other for ever");
}

TEST(EpochOrder, DoesNotHoldForMerge) {
  GraphBuilder graph;
  graph.producer("a", kRow);
  graph.producer("b", kRow);
  graph.consumer("ab", {"a", "b"}, Join::merge);
  graph.consumer("ba", {"b", "a"}, Join::merge);
  graph.consumer("aa", {"a", "a"}, Join::merge);
  EXPECT_TRUE(number(graph).problems.empty());
}

}  // namespace
}  // namespace brigade
