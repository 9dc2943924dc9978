#include <gtest/gtest.h>

#include "pipeline/plan/graph_printer.h"
#include "tests/support/example_graphs.h"
#include "tests/support/golden.h"
#include "tests/support/random_graph.h"

namespace brigade {
namespace {

std::size_t count(const std::string& text, const std::string& what) {
  std::size_t found = 0;
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1))
    ++found;
  return found;
}

TEST(DrawSvg, ShowsFashionMnist) {
  GraphBuilder graph = fashion_mnist_graph();
  expect_golden("plan/fashion_mnist.svg", draw_svg(graph.build()));
}

TEST(DrawSvg, ShowsBroadcastAndZip) {
  GraphBuilder graph = diamond_graph();
  expect_golden("plan/diamond.svg", draw_svg(graph.build()));
}

TEST(DrawSvg, OfNothingIsAnEmptyImage) {
  GraphBuilder graph;
  const std::string text = draw_svg(graph.build());
  EXPECT_EQ(count(text, "<rect"), 0u);
  EXPECT_NE(text.find("width=\"32\" height=\"32\""), std::string::npos) << text;
}

TEST(DrawSvg, EscapesWhatXmlWouldRead) {
  GraphBuilder graph("<a> & \"b\"\n");
  graph.producer("p", {});
  EXPECT_NE(draw_svg(graph.build()).find("<title>&lt;a&gt; &amp; &quot;b&quot;\\n</title>"),
            std::string::npos);
}

TEST(DrawSvg, HasABoxPerStageAndClosesWhatItOpens) {
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    GraphBuilder graph = RandomGraph(seed).make();
    const std::string text = draw_svg(graph.build());
    EXPECT_EQ(count(text, "<rect"), graph.graph().stages.size());
    EXPECT_EQ(count(text, "<g>"), count(text, "</g>"));
    EXPECT_EQ(count(text, "<text"), count(text, "</text>"));
  }
}

}  // namespace
}  // namespace brigade
