#include <gtest/gtest.h>

#include "pipeline/plan/graph_printer.h"
#include "tests/support/graph_builder.h"

namespace brigade {
namespace {

using Lines = std::vector<std::string>;

TEST(StageLines, SayNameTypeAndOutputs) {
  GraphBuilder graph;
  graph.producer("images", {{"image", u8, {28, 28, 1}}, {"label", i64, {}}});
  EXPECT_EQ(stage_lines(graph.build(), graph.stage("images")),
            (Lines{"images", "images_type", "image u8[28, 28, 1]", "label i64[]"}));
}

TEST(StageLines, SayReplicasWhereThereAreSeveral) {
  GraphBuilder graph;
  graph.producer("a", {}).replicas = 3;
  EXPECT_EQ(stage_lines(graph.build(), graph.stage("a")), (Lines{"a", "a_type x 3"}));
  graph.stage("a").replicas = 0;
  EXPECT_EQ(stage_lines(graph.build(), graph.stage("a")), (Lines{"a", "a_type x auto"}));
}

TEST(StageLines, SayHowSourcesAreJoinedAndByWhichPorts) {
  GraphBuilder graph = fashion_mnist_graph();
  EXPECT_EQ(stage_lines(graph.build(), graph.stage("train")),
            (Lines{"train", "train_type", "epochs of train, test"}));
}

TEST(StageLines, CutALongListOfTensors) {
  GraphBuilder graph;
  Ports ports;
  for (const char* name : {"a", "b", "c", "d", "e", "f"})
    ports.tensors.push_back({name, u8, {Dim(1)}});
  graph.producer("p", ports);
  EXPECT_EQ(stage_lines(graph.build(), graph.stage("p")),
            (Lines{"p", "p_type", "a u8[1]", "b u8[1]", "c u8[1]", "d u8[1]", "and 2 more"}));
}

TEST(EdgeLabel, SaysWhatTheReaderMakesOfIt) {
  GraphBuilder graph = fashion_mnist_graph();
  const ValidGraph& valid = graph.build();
  EXPECT_EQ(edge_label(valid, graph.stage("augment"), 0), "");
  EXPECT_EQ(edge_label(valid, graph.stage("train"), 1), "test, batches of 256");
  graph.stage("augment").sources[0].tensor = "image";
  EXPECT_EQ(edge_label(valid, graph.stage("augment"), 0), "only image");
}

TEST(StageLines, SayHowManySamplesAreMadeOfEach) {
  GraphBuilder graph;
  graph.producer("a", {});
  ValidStage& crops = graph.transform("crops", {"a"}, {});
  crops.replicas = 2;
  crops.outputs_per_input = 5;
  graph.type_of("crops").contract.numbering = Numbering::fixed;
  EXPECT_EQ(stage_lines(graph.build(), graph.stage("crops")),
            (Lines{"crops", "crops_type x 2, 5 of each"}));
  graph.stage("crops").outputs_per_input = 1;
  EXPECT_EQ(stage_lines(graph.build(), graph.stage("crops")), (Lines{"crops", "crops_type x 2"}));
}

}  // namespace
}  // namespace brigade
