#include "pipeline/config/graph/valid_graph.h"

#include <gtest/gtest.h>

#include "tests/support/graph_builder.h"

namespace brigade {
namespace {

/// first -> left, and other -> right; both -> end.
ValidGraph two_ways() {
  GraphBuilder graph;
  graph.producer("first", {});
  graph.producer("other", {});
  graph.transform("left", {"first"}, {});
  graph.transform("right", {"other"}, {});
  graph.consumer("end", {"left", "right"}, Join::zip);
  return graph.graph();
}

TEST(GraphParts, AStageIsFoundByItsName) {
  EXPECT_EQ(find_stage(two_ways(), "right"), 3);
  EXPECT_EQ(find_stage(two_ways(), "middle"), -1);
}

TEST(GraphParts, AboveAStageIsWhatItReadsAndNotItself) {
  const ValidGraph graph = two_ways();
  EXPECT_EQ(stages_above(graph, 3), std::vector<bool>({false, true, false, false, false}));
  EXPECT_EQ(stages_above(graph, 4), std::vector<bool>({true, true, true, true, false}));
}

TEST(GraphParts, WhatIsKeptReadsWhatItRead) {
  ValidGraph graph = two_ways();
  keep_stages(graph, {false, true, false, true, false});
  ASSERT_EQ(graph.stages.size(), 2u);
  EXPECT_EQ(graph.stages[1].name, "right");
  EXPECT_EQ(graph.stages[1].sources[0].stage, 0);
}

}  // namespace
}  // namespace brigade
