#include "pipeline/cli/draw/graph_layout.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/support/random_graph.h"

namespace brigade {
namespace {

const Ports kRow{{"x", u8, {8}}};

GraphLayout lay_out(GraphBuilder& graph, LayoutSize size = {21, 5}) {
  const ValidGraph& valid = graph.build();
  return lay_out_graph(valid, ByStage<LayoutSize>(valid.stages.size(), size), 3);
}

TEST(GraphLayout, OfNothingIsEmpty) {
  GraphBuilder graph;
  EXPECT_TRUE(lay_out(graph).layers.empty());
  EXPECT_EQ(lay_out(graph).width, 0);
}

TEST(GraphLayout, PutsAFusedInAStraightLine) {
  GraphBuilder graph;
  graph.producer("a", kRow);
  graph.transform("b", {"a"}, kRow);
  graph.consumer("c", {"b"});
  const GraphLayout layout = lay_out(graph);
  EXPECT_EQ(layout.layers, (std::vector<std::vector<int>>{{0}, {1}, {2}}));
  EXPECT_EQ(layout.width, 21);
  for (const LayoutEdge& edge : layout.edges) EXPECT_EQ(edge.exit, edge.entry);
}

TEST(GraphLayout, PutsAProducerRightAboveItsReader) {
  GraphBuilder graph = fashion_mnist_graph();
  const GraphLayout layout = lay_out(graph);
  EXPECT_EQ(layout.layers, (std::vector<std::vector<int>>{{0}, {1, 2}, {3}}));
}

TEST(GraphLayout, PutsTheReaderOfTwoBetweenThem) {
  GraphBuilder graph;
  graph.producer("a", kRow);
  graph.producer("b", kRow);
  graph.consumer("c", {"a", "b"}, Join::zip);
  const GraphLayout layout = lay_out(graph);
  EXPECT_EQ(layout.nodes[0].left(), 0);
  EXPECT_EQ(layout.nodes[1].left(), 24);
  EXPECT_EQ(layout.nodes[2].center, (layout.nodes[0].center + layout.nodes[1].center) / 2);
}

TEST(GraphLayout, BendsEdgesThatSkipLayersOncePerStage) {
  GraphBuilder graph;
  graph.producer("a", kRow);
  graph.transform("b", {"a"}, kRow);
  graph.transform("c", {"b"}, kRow);
  graph.consumer("d", {"c", "a"}, Join::zip);
  graph.consumer("e", {"c", "a"}, Join::zip);
  const GraphLayout layout = lay_out(graph);
  ASSERT_EQ(layout.nodes.size(), 7u);
  EXPECT_EQ(layout.nodes[5].stage, -1);
  EXPECT_EQ(layout.nodes[5].layer, 1);
  EXPECT_EQ(layout.nodes[6].layer, 2);
}

TEST(GraphLayout, DrawsOneEdgeWhereAStageReadsAnotherTwice) {
  GraphBuilder graph;
  graph.producer("a", kRow);
  graph.consumer("b", {"a", "a"}, Join::merge);
  EXPECT_EQ(lay_out(graph).edges.size(), 1u);
}

TEST(EveryGraphLayout, KeepsNodesApartAndEdgesBetweenNeighbours) {
  for (std::uint64_t seed = 0; seed < 500; ++seed) {
    SCOPED_TRACE(seed);
    RandomGraph random(seed);
    GraphBuilder graph = random.make();
    const ValidGraph& valid = graph.build();
    ByStage<LayoutSize> sizes;
    while (sizes.size() < valid.stages.size())
      sizes.push_back({static_cast<int>(random.number(3, 20)) * 2 + 1, 4});
    const GraphLayout layout = lay_out_graph(valid, sizes, 3);

    for (const auto& layer : layout.layers) {
      for (std::size_t i = 0; i < layer.size(); ++i) {
        const LayoutNode& node = layout.nodes[layer[i]];
        EXPECT_GE(node.left(), 0);
        EXPECT_LE(node.left() + node.size.width, layout.width);
        if (i == 0) continue;
        const LayoutNode& before = layout.nodes[layer[i - 1]];
        EXPECT_GE(node.left(), before.left() + before.size.width + 3);
      }
    }
    for (const LayoutEdge& edge : layout.edges) {
      const LayoutNode& to = layout.nodes[edge.to];
      EXPECT_EQ(layout.nodes[edge.from].layer + 1, to.layer);
      EXPECT_GE(edge.entry, to.left());
      EXPECT_LT(edge.entry, to.left() + to.size.width);
      EXPECT_EQ(edge.exit, layout.nodes[edge.from].center);
    }
  }
}

TEST(EveryGraphLayout, LeadsEveryEdgeFromItsSourceToItsReader) {
  for (std::uint64_t seed = 0; seed < 500; ++seed) {
    SCOPED_TRACE(seed);
    GraphBuilder graph = RandomGraph(seed).make();
    const GraphLayout layout = lay_out(graph);
    for (const StageNumber s : graph.graph().stages.numbers()) {
      for (const ValidSource& source : graph.graph().stages[s].sources) {
        bool found = false;
        for (const LayoutEdge& edge : layout.edges) {
          if (edge.to != s.value()) continue;
          int node = edge.from;
          while (layout.nodes[node].stage < 0)
            node = std::find_if(layout.edges.begin(), layout.edges.end(), [&](const auto& above) {
                     return above.to == node;
                   })->from;
          found |= source.stage == node;
        }
        EXPECT_TRUE(found);
      }
    }
  }
}

}  // namespace
}  // namespace brigade
