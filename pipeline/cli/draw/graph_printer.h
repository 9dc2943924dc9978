#pragma once

// Draws a graph: `brigade graph` in a terminal and for Graphviz. Every stage shows its
// name, type, replicas and outputs; the drawings have golden tests. Pure functions.

#include <string>
#include <vector>

#include "pipeline/config/graph/valid_graph.h"

namespace brigade {

/// Boxes and lines of ASCII characters, sources on top, no space at a line's end.
std::string draw_ascii(const ValidGraph& graph);

/// A digraph in Graphviz's language: `brigade graph --format dot | dot -Tsvg`.
std::string draw_dot(const ValidGraph& graph);

/// What the box of a stage says, line by line: name; type and replicas; outputs or join.
std::vector<std::string> stage_lines(const ValidGraph& graph, const ValidStage& stage);

/// What stands beside an edge: "test, batches of 256"; empty where there is nothing to say.
std::string edge_label(const ValidGraph& graph, const ValidStage& reader, std::size_t source);

}  // namespace brigade
