#pragma once

// Places the stages of a graph in layers, sources on top, for drawings in characters. The
// layers follow Sugiyama, Tagawa and Toda (1981): longest-path layers pulled down to
// their readers, edges that skip layers cut by invisible nodes, layers sorted by the mean
// place of their neighbors, and each layer's places the nearest to its neighbors that do
// not overlap (isotonic regression by pooling adjacent violators). Pure functions.

#include <vector>

#include "pipeline/config/graph/valid_graph.h"

namespace brigade {

struct LayoutSize {
  int width = 0;
  int height = 0;
};

/// A stage, or a bend of edges that pass through a layer.
struct LayoutNode {
  StageNumber stage = -1;  ///< -1: a bend
  int layer = 0;
  int center = 0;  ///< from the left edge of the drawing
  LayoutSize size;
  int left() const { return center - size.width / 2; }
};

/// Joins nodes of neighbouring layers, downwards.
struct LayoutEdge {
  int from = 0;  ///< indices into GraphLayout::nodes
  int to = 0;
  int exit = 0;  ///< where it leaves the upper node and enters the lower one, from the left edge
  int entry = 0;
};

struct GraphLayout {
  std::vector<LayoutNode> nodes;         ///< of stage s: node s; bends after them
  std::vector<std::vector<int>> layers;  ///< nodes from left to right
  std::vector<LayoutEdge> edges;         ///< one per pair of nodes, also where several ports join
  int width = 0;

  int layer_height(int layer) const;  ///< of its highest node
};

/// `sizes`: widths odd so that a center is a whole unit. `gap`: free units between
/// two nodes of a layer, at least 2.
GraphLayout lay_out_graph(const ValidGraph& graph, const ByStage<LayoutSize>& sizes, int gap);

}  // namespace brigade
