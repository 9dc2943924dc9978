#include "pipeline/plan/consumer_epochs.h"

#include <gtest/gtest.h>

#include "pipeline/plan/planner/planner.h"
#include "tests/support/graph_builder.h"
#include "tests/support/plan_limits.h"

namespace brigade {
namespace {

const Ports kSlot{{"x", u8, {8}}};

/// images (100 of them) -> work -> train, which takes batches of 32.
GraphBuilder batches_of_32() {
  GraphBuilder graph;
  graph.producer("images", kSlot).samples = 100;
  graph.transform("work", {"images"}, kSlot);
  ValidStage& train = graph.consumer("train", {"work"});
  train.batched = true;
  train.sources[0].batch = 32;
  return graph;
}

std::vector<ConsumerEpoch> epochs(GraphBuilder& graph) {
  const PlanResult result = plan_graph(graph.build(), small_machine());
  EXPECT_TRUE(result.ok()) << result.problems.front().message;
  return consumer_epochs(graph.build(), result.plan);
}

using All = std::vector<ConsumerEpoch>;

TEST(ConsumerEpochs, EndWithAShortBatchOrDropIt) {
  GraphBuilder graph = batches_of_32();
  EXPECT_EQ(epochs(graph), (All{{"train", "work", 100, 4}}));
  graph.stage("train").drop_last = true;
  EXPECT_EQ(epochs(graph), (All{{"train", "work", 96, 3}}));
}

TEST(ConsumerEpochs, WhatATransformDropsAtTheEndIsMissingBelow) {
  GraphBuilder graph = batches_of_32();
  ValidStage& work = graph.stage("work");
  work.batched = true;
  work.drop_last = true;
  work.sources[0].batch = 40;
  EXPECT_EQ(epochs(graph), (All{{"train", "work", 80, 3}}));
  graph.stage("train").drop_last = true;  // two of its batches are whole; the third has padding
  EXPECT_EQ(epochs(graph), (All{{"train", "work", 80, 3}}));
}

TEST(ConsumerEpochs, AreUnknownBelowAShuffledCacheOfAShortenedEpoch) {
  for (const char* const shuffled : {"", "kept", "images"})  // at the cache, or above it
    for (const bool drop_last : {false, true}) {
      GraphBuilder graph("kept");
      graph.producer("images", kSlot).samples = 100;
      ValidStage& work = graph.transform("work", {"images"}, kSlot);
      work.batched = true;
      work.drop_last = drop_last;
      work.sources[0].batch = 40;
      graph.transform("kept", {"work"}, kSlot).passed = {{"x", 0}};
      graph.type_of("kept").contract.cache = true;
      if (*shuffled != 0) graph.stage(shuffled).shuffle = true;
      ValidStage& train = graph.consumer("train", {"kept"});
      train.batched = true;
      train.sources[0].batch = 32;
      const All whole{{"train", "kept", 100, 4}}, shortened{{"train", "kept", 80, 3}},
          unknown{{"train", "kept", {}, {}, "stage \"kept\" is shuffled below a `drop_last`"}};
      EXPECT_EQ(epochs(graph), !drop_last       ? whole
                               : *shuffled != 0 ? unknown
                                                : shortened)
          << shuffled;
    }
}

TEST(ConsumerEpochs, FixedReplicasGetEquallyManyBatches) {
  GraphBuilder graph = batches_of_32();
  graph.stage("train").fixed = true;
  graph.stage("train").replicas = 3;
  EXPECT_EQ(epochs(graph), (All{{"train", "work", 100, 6}}));
  graph.stage("train").drop_last = true;
  EXPECT_EQ(epochs(graph), (All{{"train", "work", 96, 3}}));
}

TEST(ConsumerEpochs, CountWhatIsMadeOfEachSample) {
  GraphBuilder graph = batches_of_32();
  graph.stage("work").outputs_per_input = 3;
  graph.type_of("work").contract.numbering = Numbering::expand;
  EXPECT_EQ(epochs(graph), (All{{"train", "work", 300, 10}}));
}

TEST(ConsumerEpochs, CountForThisRankAndBelowLimits) {
  GraphBuilder graph = batches_of_32();
  graph.graph().shard = {1, 2, Uneven::drop};
  graph.stage("images").limit = 91;
  EXPECT_EQ(epochs(graph), (All{{"train", "work", 45, 2}}));
}

TEST(ConsumerEpochs, AreUnknownBelowWhatMayDropOrDoesNotTell) {
  const std::pair<const char*, const char*> all[] = {
      {"drops", "stage \"work\" may drop samples"},
      {"source drops", "stage \"images\" may drop samples"},
      {"does not tell", "stage \"images\" has not been counted"},
      {"could not be read", "stage \"images\": no such folder"},
      {"flat_map", "stage \"work\" makes 1 to 3 samples of each"},
      {"stream", "stage \"images\" is a stream"}};
  for (const auto& [what, why] : all) {
    GraphBuilder graph = batches_of_32();
    const std::string is = what;
    graph.type_of("work").contract.may_drop = is == "drops";
    graph.type_of("images").contract.may_drop = is == "source drops";
    if (is == "does not tell" || is == "could not be read") graph.stage("images").samples = 0;
    if (is == "could not be read") graph.stage("images").uncounted = "no such folder";
    if (is == "flat_map") {
      graph.type_of("work").contract.numbering = Numbering::flat_map;
      graph.stage("work").outputs_per_input = 3;
    }
    if (is == "stream") {
      graph.type_of("images").indexed = false;
      graph.stage("images").samples = 0;
    }
    EXPECT_EQ(epochs(graph), (All{{"train", "work", {}, {}, why}})) << what;
  }
}

TEST(ConsumerEpochs, AreKnownBelowWhatKeepsAllThoughItsTypeMayDrop) {
  GraphBuilder graph = batches_of_32();
  graph.type_of("work").contract.may_drop = true;
  graph.stage("work").keeps_all = true;
  EXPECT_EQ(epochs(graph), (All{{"train", "work", 100, 4}}));
}

TEST(ConsumerEpochs, OfSourcesThatAreMergedAreTheirSum) {
  GraphBuilder graph;
  graph.producer("a", kSlot).samples = 100;
  graph.producer("b", kSlot).samples = 50;
  graph.transform("all", {"a", "b"}, kSlot, Join::merge);
  graph.type_of("all").contract.numbering = Numbering::flat_map;
  ValidStage& train = graph.consumer("train", {"all"});
  train.batched = true;
  train.sources[0].batch = 32;
  EXPECT_EQ(epochs(graph), (All{{"train", "all", 150, 5}}));
  graph.stage("b").samples = 0;
  EXPECT_EQ(epochs(graph), (All{{"train", "all", {}, {}, "stage \"b\" has not been counted"}}));
}

TEST(ConsumerEpochs, OfStagesThatTakeSamplesThereAreNoBatches) {
  GraphBuilder graph;
  graph.producer("images", kSlot).samples = 100;
  graph.consumer("count", {"images"});
  EXPECT_EQ(epochs(graph), (All{{"count", "images", 100, {}}}));
}

TEST(ConsumerEpochs, SeveralSourcesAreCountedEachUnlessTheyAreZipped) {
  for (const Join join : {Join::epochs, Join::zip}) {
    GraphBuilder graph;
    graph.producer("a", kSlot).samples = 100;
    graph.producer("b", kSlot).samples = join == Join::zip ? 100 : 50;
    ValidStage& train = graph.consumer("train", {"a", "b"}, join);
    train.batched = true;
    for (ValidSource& source : train.sources) source.batch = 32;
    const All both{{"train", "a", 100, 4}, {"train", "b", 50, 2}};
    EXPECT_EQ(epochs(graph), join == Join::zip ? All{both[0]} : both);
  }
}

}  // namespace
}  // namespace brigade
