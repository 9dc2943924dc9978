#include "pipeline/plan/lanes.h"

#include <gtest/gtest.h>

#include "pipeline/plan/unknown_length.h"
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

/// A transform that makes `count` samples of each.
void several(GraphBuilder& graph, const std::string& name, const std::string& from,
             std::uint64_t count) {
  graph.transform(name, {from}, kRow).outputs_per_input = count;
  graph.type_of(name).contract.numbering = Numbering::fixed;
}

TEST(DerivedDomains, BelowAStageThatMakesSeveralOfEach) {
  GraphBuilder graph;
  graph.producer("a", kRow);
  several(graph, "twice", "a", 2);
  several(graph, "thrice", "twice", 3);
  graph.consumer("end", {"thrice"});
  const Plan plan = number(graph).plan;
  ASSERT_EQ(plan.domains.size(), 3u);
  EXPECT_EQ(plan.domains[1], (PlanDomain{{0}, 1, 0, 2}));
  EXPECT_EQ(plan.domains[2], (PlanDomain{{0}, 1, 0, 6}));
  EXPECT_EQ(plan.stages[1].fan_out, 2u);
  EXPECT_EQ(plan.stages[1].lanes[0].domain, 0);
  EXPECT_EQ(plan.stages[1].pool_domain, 1);
  EXPECT_EQ(plan.stages[2].lanes[0].domain, 1);
  EXPECT_EQ(plan.stages[2].pool_domain, 2);
  EXPECT_EQ(plan.stages[3].lanes[0].domain, 2);
  EXPECT_EQ(root_domain(plan, 2), 0);
}

TEST(DerivedDomains, OneOfEachIsNumberedAsItsInput) {
  GraphBuilder graph;
  graph.producer("a", kRow);
  several(graph, "once", "a", 1);
  graph.consumer("end", {"once", "a"}, Join::zip);
  const Numbered result = number(graph);
  EXPECT_TRUE(result.problems.empty());
  EXPECT_EQ(result.plan.domains.size(), 1u);
}

TEST(DerivedDomains, BranchesWithAsManyOfEachCanBeZipped) {
  GraphBuilder graph;
  graph.producer("a", kRow);
  graph.producer("b", kRow);
  several(graph, "six", "a", 6);
  several(graph, "two", "a", 2);
  several(graph, "of_two", "two", 3);
  several(graph, "of_b", "b", 6);
  graph.consumer("end", {"six", "of_two", "of_b"}, Join::zip);
  const Numbered result = number(graph);
  EXPECT_TRUE(result.problems.empty());
  ASSERT_EQ(result.plan.domains.size(), 3u);  // of a and b together, their twofold, their sixfold
  EXPECT_EQ(result.plan.domains[0].sources, (std::vector<int>{0, 1}));
  const int sixfold = result.plan.stages[6].lanes[0].domain;
  EXPECT_EQ(result.plan.domains[static_cast<std::size_t>(sixfold)].fan_out, 6u);
  for (const int stage : {2, 4, 5})
    EXPECT_EQ(result.plan.stages[static_cast<std::size_t>(stage)].pool_domain, sixfold);
}

TEST(DerivedDomains, ABranchCannotBeZippedWithItsOriginal) {
  GraphBuilder graph;
  graph.producer("images", kRow);
  several(graph, "crops", "images", 5);
  graph.consumer("train", {"images", "crops"}, Join::zip);
  const PlanProblems problems = number(graph).problems;
  ASSERT_EQ(problems.size(), 1u);
  EXPECT_EQ(problems[0].stage, "train");
  EXPECT_EQ(problems[0].message,
            "join: zip puts samples of the same number side by side, but where \"images\" has 1 "
            "sample, \"crops\" has 5 samples: they are numbered differently");
  EXPECT_EQ(problems[0].help,
            "zip them above the stage that makes several samples of each; tensors that a type "
            "does not name travel on through it");
}

TEST(DerivedDomains, EpochsOfABranchAndItsOriginalWouldWaitForEver) {
  GraphBuilder graph;
  graph.producer("images", kRow);
  several(graph, "crops", "images", 5);
  graph.consumer("train", {"images", "crops"}, Join::epochs);
  const PlanProblems problems = number(graph).problems;
  ASSERT_EQ(problems.size(), 1u);
  EXPECT_TRUE(problems[0].message.starts_with(
      "join: epochs cannot read \"images\" and then \"crops\": both come from \"images\""));
}

TEST(DerivedDomains, StagesMultiplyOnTheirWayDownUpToALimit) {
  GraphBuilder graph;
  graph.producer("a", kRow);
  several(graph, "many", "a", 300);
  several(graph, "more", "many", 300);
  graph.consumer("end", {"more"});
  const PlanProblems problems = number(graph).problems;
  ASSERT_EQ(problems.size(), 1u);
  EXPECT_EQ(problems[0].stage, "more");
  EXPECT_EQ(problems[0].message,
            "it and the stages above make 90000 samples of each, at most 65536 are possible");
}

TEST(DerivedDomains, MaxWaitHoldsForTheStreamAbove) {
  GraphBuilder graph;
  graph.producer("lines", kRow);
  graph.type_of("lines").indexed = false;
  several(graph, "twice", "lines", 2);
  graph.consumer("end", {"twice"}).sources[0].max_wait_ns = 7;
  Numbered result = number(graph);
  for (PlanStage& stage : result.plan.stages) stage.kind = StageKind::transform;
  result.plan.stages[0].kind = StageKind::producer;
  check_unknown_lengths(graph.build(), result.plan, result.problems);
  EXPECT_TRUE(result.problems.empty());
  EXPECT_EQ(result.plan.stages[0].max_wait_ns, 7);
}

}  // namespace
}  // namespace brigade
