#include "pipeline/plan/task_queues.h"

#include <gtest/gtest.h>

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
            "which cannot finish an epoch for one source while the other waits");
  EXPECT_EQ(problems[0].help, "give each source its own producer, or use join: zip");
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
            "join: epochs reads \"c\" before \"a\", but other stages read their producers in the "
            "opposite order: both would wait forever");
}

TEST(EpochOrder, HoldsForWhatIsMadeOfSamplesToo) {
  GraphBuilder graph;
  graph.producer("images", kNumberedSlot);
  graph.transform("crops", {"images"}, kNumberedSlot).outputs_per_input = 5;
  graph.type_of("crops").contract.numbering = Numbering::expand;
  graph.consumer("train", {"images", "crops"}, Join::epochs);
  const PlanProblems problems = number(graph).problems;
  ASSERT_EQ(problems.size(), 1u);
  EXPECT_TRUE(problems[0].message.starts_with(
      "join: epochs cannot read \"images\" and then \"crops\": both come from \"images\""));
}

}  // namespace
}  // namespace brigade
