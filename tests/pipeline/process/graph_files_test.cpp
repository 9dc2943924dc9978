#include "pipeline/process/graph_files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "stages/builtin.h"
#include "tests/support/session.h"
#include "tests/support/temporary_folder.h"

namespace brigade {
namespace {

using testing::HasSubstr;

struct Files : testing::Test {
  TemporaryFolder folder;
  StageTypes types = builtin_stage_types();

  PlannedGraph planned(const std::string& text, std::vector<std::string> sets = {}) {
    return plan_files({{folder.write("graph.yaml", text)}, std::move(sets), {}}, types);
  }
};

TEST_F(Files, BecomeAPlan) {
  const PlannedGraph graph = planned(line_yaml("consumer: count"));
  ASSERT_TRUE(graph.plan);
  EXPECT_EQ(graph.messages, "");
  EXPECT_EQ(graph.plan->stages.size(), 2u);
  EXPECT_GE(graph.limits.cores_affinity, 1u);
}

TEST_F(Files, MistakesHaveTheirPlace) {
  const PlannedGraph graph = planned(line_yaml("consumer: cuont"));
  EXPECT_FALSE(graph.plan);
  EXPECT_THAT(graph.messages, HasSubstr("graph.yaml:3:"));
  EXPECT_THAT(graph.messages, HasSubstr("did you mean \"count\"?"));
}

TEST_F(Files, WhatDoesNotFitTheMachineHasItsPlaceToo) {
  const PlannedGraph graph = planned("memory: 1MiB\n" + line_yaml("consumer: count"),
                                     {"stages.numbers.params.shape=[1000000]"});
  EXPECT_FALSE(graph.plan);
  EXPECT_TRUE(graph.loaded.graph);
  EXPECT_THAT(graph.messages, HasSubstr("graph.yaml:3:"));
  EXPECT_THAT(graph.messages, HasSubstr("stage \"numbers\": the graph needs"));
}

TEST_F(Files, OneThatIsMissingIsSaid) {
  const PlannedGraph graph = plan_files({{"/nowhere/graph.yaml"}, {}, {}}, types);
  EXPECT_FALSE(graph.plan);
  EXPECT_THAT(graph.messages, HasSubstr("/nowhere/graph.yaml"));
}

TEST_F(Files, TheLimitReachesIndexedProducers) {
  const auto path = folder.write("graph.yaml", line_yaml("consumer: count"));
  EXPECT_EQ(plan_files({{path}, {}, 10}, types).plan->stages[0].limit, 10u);
}

}  // namespace
}  // namespace brigade
