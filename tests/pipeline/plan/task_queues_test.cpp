#include "pipeline/plan/task_queues.h"

#include <gtest/gtest.h>

#include "pipeline/plan/planner/unknown_length.h"
#include "tests/support/graph_builder.h"

namespace brigade {
namespace {

const Ports kNumberedSlot{{"x", u8, {8}}};

struct Numbered {
  Plan plan;
  PlanProblems problems;
};

Numbered number(GraphBuilder& builder) {
  const ValidGraph& graph = builder.build();
  Numbered result;
  result.plan.stages.resize(graph.stages.size());
  make_task_queues(graph, result.plan);
  number_index_spaces(graph, result.plan, result.problems);
  return result;
}

using Reader = std::pair<StageNumber, QueueNumber>;

TEST(EpochOrder, IsFineWhereAllStagesAgree) {
  GraphBuilder graph;
  graph.producer("a", kNumberedSlot);
  graph.producer("b", kNumberedSlot);
  graph.producer("c", kNumberedSlot);
  graph.consumer("ab", {"a", "b"}, Join::epochs);
  graph.consumer("bc", {"b", "c"}, Join::epochs);
  graph.consumer("ac", {"a", "c"}, Join::epochs);
  EXPECT_TRUE(number(graph).problems.empty());
}

TEST(EpochOrder, RefusesTwoSourcesOfOneProducer) {
  GraphBuilder graph;
  graph.producer("images", kNumberedSlot);
  graph.transform("flipped", {"images"}, kNumberedSlot);
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
  graph.producer("a", kNumberedSlot);
  graph.producer("b", kNumberedSlot);
  graph.producer("c", kNumberedSlot);
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
  graph.producer("a", kNumberedSlot);
  graph.producer("b", kNumberedSlot);
  graph.consumer("ab", {"a", "b"}, Join::merge);
  graph.consumer("ba", {"b", "a"}, Join::merge);
  graph.consumer("aa", {"a", "a"}, Join::merge);
  EXPECT_TRUE(number(graph).problems.empty());
}

/// A transform that makes `count` samples of each.
void several(GraphBuilder& graph, const std::string& name, const std::string& from,
             std::uint64_t count) {
  graph.transform(name, {from}, kNumberedSlot).outputs_per_input = count;
  graph.type_of(name).contract.numbering = Numbering::expand;
}

TEST(DerivedIndexSpaces, ABranchCannotBeZippedWithItsOriginal) {
  GraphBuilder graph;
  graph.producer("images", kNumberedSlot);
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

TEST(DerivedIndexSpaces, EpochsOfABranchAndItsOriginalWouldWaitForEver) {
  GraphBuilder graph;
  graph.producer("images", kNumberedSlot);
  several(graph, "crops", "images", 5);
  graph.consumer("train", {"images", "crops"}, Join::epochs);
  const PlanProblems problems = number(graph).problems;
  ASSERT_EQ(problems.size(), 1u);
  EXPECT_TRUE(problems[0].message.starts_with(
      "join: epochs cannot read \"images\" and then \"crops\": both come from \"images\""));
}

TEST(DerivedIndexSpaces, StagesMultiplyOnTheirWayDownUpToALimit) {
  GraphBuilder graph;
  graph.producer("a", kNumberedSlot);
  several(graph, "many", "a", 300);
  several(graph, "more", "many", 300);
  graph.consumer("end", {"more"});
  const PlanProblems problems = number(graph).problems;
  ASSERT_EQ(problems.size(), 1u);
  EXPECT_EQ(problems[0].stage, "more");
  EXPECT_EQ(problems[0].message,
            "it and the stages above make 90000 samples of each, at most 65536 are possible");
}

TEST(DerivedIndexSpaces, MaxWaitHoldsForTheStreamAbove) {
  GraphBuilder graph;
  graph.producer("lines", kNumberedSlot);
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
