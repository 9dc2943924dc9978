#include "pipeline/plan/planner/planner.h"

#include <gtest/gtest.h>

#include "pipeline/plan/plan_check.h"
#include "tests/support/graph_builder.h"
#include "tests/support/plan_limits.h"

namespace brigade {
namespace {

const Ports kPicture{{"x", u8, {784}}};

Plan planned(GraphBuilder& builder) {
  PlanResult result = plan_graph(builder.build(), small_machine());
  EXPECT_TRUE(result.ok()) << result.problems.front().message;
  const Result<void> checked = check_plan(result.plan);
  EXPECT_TRUE(checked.ok()) << checked.error().message;
  return std::move(result.plan);
}

TEST(Planner, GivesTheSamePlanForTheSameInput) {
  GraphBuilder graph = fashion_mnist_graph();
  EXPECT_EQ(planned(graph), planned(graph));
}

TEST(Planner, ReportsAllProblemsAtOnce) {
  GraphBuilder graph;
  graph.producer("a", kPicture);
  graph.transform("b", {"a"}, kPicture).replicas = 300;
  graph.consumer("c", {"b"}).batched = true;
  MachineLimits limits = small_machine();
  limits.descriptors_hard = 20;
  EXPECT_EQ(plan_graph(graph.build(), limits).problems.size(), 3u);
}

TEST(Planner, PlansAGraphWithoutStages) {
  GraphBuilder graph;
  EXPECT_TRUE(planned(graph).stages.empty());
}

TEST(Planner, APartOfNoFilesIsAProblem) {
  GraphBuilder graph;
  ValidStage& source = graph.producer("a", kPicture);
  source.files = 4;
  source.split.shares = {{"train", kWholeShare - 1}};
  source.part = "train";
  graph.consumer("end", {"a"});
  EXPECT_TRUE(plan_graph(graph.build(), small_machine()).ok()) << "the control";
  graph.stage("a").part = "val";
  const PlanResult counted = plan_graph(graph.build(), small_machine());
  ASSERT_EQ(counted.problems.size(), 1u);
  EXPECT_EQ(counted.problems[0].message,
            "its source has 4 samples, but `skip:` and `split:` leave none of them");
}

}  // namespace
}  // namespace brigade
