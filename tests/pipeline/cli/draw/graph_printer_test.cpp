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

using Lines = std::vector<std::string>;

TEST(StageLines, CutALongListOfTensors) {
  GraphBuilder graph;
  Ports ports;
  for (const char* name : {"a", "b", "c", "d", "e", "f"})
    ports.tensors.push_back({name, u8, {Dim(1)}});
  graph.producer("p", ports);
  EXPECT_EQ(stage_lines(graph.build(), graph.stage("p")),
            (Lines{"p", "p_type", "a u8[1]", "b u8[1]", "c u8[1]", "d u8[1]", "and 2 more"}));
}

}  // namespace
}  // namespace brigade
