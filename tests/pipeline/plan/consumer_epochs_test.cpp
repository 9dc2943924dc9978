#include "pipeline/plan/consumer_epochs.h"

#include <gtest/gtest.h>

#include "pipeline/plan/planner/planner.h"
#include "tests/support/graph_builder.h"
#include "tests/support/plan_limits.h"

namespace brigade {
namespace {

/// images -> work -> train, which takes batches of 32; `work` is of a type that may drop samples.
GraphBuilder batches_of_32() {
  GraphBuilder graph;
  graph.producer("images", {{"x", u8, {8}}});
  graph.transform("work", {"images"}, {{"x", u8, {8}}});
  graph.type_of("work").contract.may_drop = true;
  ValidStage& train = graph.consumer("train", {"work"});
  train.batched = true;
  train.sources[0].batch = 32;
  return graph;
}

using All = std::vector<ConsumerEpoch>;

All epochs(GraphBuilder& graph) {
  const PlanResult result = plan_graph(graph.build(), small_machine());
  EXPECT_TRUE(result.ok()) << result.problems.front().message;
  return consumer_epochs(graph.build(), result.plan);
}

TEST(ConsumerEpochs, AreKnownBelowWhatKeepsAllThoughItsTypeMayDrop) {
  GraphBuilder graph = batches_of_32();
  graph.stage("images").samples = 100;
  graph.stage("work").keeps_all = true;
  EXPECT_EQ(epochs(graph), (All{{"train", "work", 100, 4}}));
}

TEST(ConsumerEpochs, AreUnknownBelowAStageThatMayDropOrASourceThatDropsOrCannotBeCounted) {
  GraphBuilder graph = batches_of_32();
  graph.stage("images").samples = 100;
  EXPECT_EQ(epochs(graph), (All{{"train", "work", {}, {}, "stage \"work\" may drop samples"}}));
  graph.type_of("images").contract.may_drop = true;
  graph.type_of("work").contract.may_drop = false;
  EXPECT_EQ(epochs(graph), (All{{"train", "work", {}, {}, "stage \"images\" may drop samples"}}));
  graph.type_of("images").contract.may_drop = false;
  graph.stage("images").samples = 0;
  graph.stage("images").uncounted = "no such folder";
  EXPECT_EQ(epochs(graph), (All{{"train", "work", {}, {}, "stage \"images\": no such folder"}}));
}

}  // namespace
}  // namespace brigade
