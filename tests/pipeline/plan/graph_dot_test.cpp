#include <gtest/gtest.h>

#include "pipeline/plan/graph_printer.h"
#include "tests/support/example_graphs.h"
#include "tests/support/golden.h"

namespace brigade {
namespace {

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

}  // namespace
}  // namespace brigade
