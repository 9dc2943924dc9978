#include <gtest/gtest.h>

#include "pipeline/cli/draw/graph_printer.h"
#include "tests/support/config/example_graphs.h"
#include "tests/support/golden.h"
#include "tests/support/graph_builder.h"
#include "tests/support/random_graph.h"

namespace brigade {
namespace {

TEST(DrawAscii, ShowsFashionMnist) {
  GraphBuilder graph = fashion_mnist_graph();
  expect_golden("plan/fashion_mnist.ascii", draw_ascii(graph.build()));
}

TEST(DrawAscii, ShowsBroadcastZipAndCrossings) {
  GraphBuilder graph = diamond_graph();
  expect_golden("plan/diamond.ascii", draw_ascii(graph.build()));
}

TEST(DrawAscii, OfNothingIsNothing) {
  GraphBuilder graph;
  EXPECT_EQ(draw_ascii(graph.build()), "");
}

TEST(DrawAscii, CutsLongLinesAndCountsCharacters) {
  GraphBuilder graph;
  graph.producer("caf\xc3\xa9", {{std::string(100, 'x'), u8, {Dim(1)}}});
  expect_golden("plan/long_lines.ascii", draw_ascii(graph.build()));
}

/// What must hold for every drawing: each box is whole, each arrow ends above a box.
TEST(DrawAscii, DrawsEveryBoxWholeAndEveryArrowOntoABox) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    SCOPED_TRACE(seed);
    GraphBuilder graph = RandomGraph(seed).make();
    const std::string text = draw_ascii(graph.build());
    std::vector<std::string> rows;
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t end = text.find('\n', at);
      rows.push_back(text.substr(at, end - at));
      at = end + 1;
      EXPECT_TRUE(rows.back().empty() || rows.back().back() != ' ');
    }
    for (const ValidStage& stage : graph.graph().stages)
      EXPECT_NE(text.find("| " + stage.name + " "), std::string::npos) << text;
    for (std::size_t y = 0; y < rows.size(); ++y) {
      for (std::size_t x = 0; x < rows[y].size(); ++x) {
        if (rows[y][x] != 'v') continue;
        ASSERT_LT(y + 1, rows.size());
        EXPECT_TRUE(rows[y + 1][x] == '-' || rows[y + 1][x] == '+') << text;
        EXPECT_TRUE(rows[y - 1][x] == '|' || rows[y - 1][x] == '+') << text;
      }
    }
  }
}

TEST(DrawDot, ShowsFashionMnist) {
  GraphBuilder graph = fashion_mnist_graph();
  expect_golden("plan/fashion_mnist.dot", draw_dot(graph.build()));
}

TEST(DrawDot, ShowsBroadcastAndZip) {
  GraphBuilder graph = diamond_graph();
  expect_golden("plan/diamond.dot", draw_dot(graph.build()));
}

TEST(DrawDot, QuotesWhatItsLanguageWouldRead) {
  GraphBuilder graph("a \"b\"\\");
  graph.producer("p", {});
  EXPECT_EQ(draw_dot(graph.build()),
            "digraph \"a \\\"b\\\"\\\\\" {\n"
            "  node [fontname=\"sans-serif\"]\n"
            "  edge [fontname=\"sans-serif\", fontsize=10]\n"
            "  \"p\" [shape=invhouse, label=\"p\\np_type\"]\n"
            "}\n");
}

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
  graph.type_of("crops").contract.numbering = Numbering::expand;
  EXPECT_EQ(stage_lines(graph.build(), graph.stage("crops")),
            (Lines{"crops", "crops_type x 2, 5 of each"}));
  graph.stage("crops").outputs_per_input = 1;
  EXPECT_EQ(stage_lines(graph.build(), graph.stage("crops")), (Lines{"crops", "crops_type x 2"}));
}

}  // namespace
}  // namespace brigade
