#include <algorithm>
#include <map>

#include "base/printable.h"
#include "base/text.h"
#include "pipeline/plan/graph_layout.h"
#include "pipeline/plan/graph_printer.h"
#include "pipeline/plan/text_table.h"

namespace brigade {
namespace {

// Pixels. Text is monospaced so that its width is known without a font.
constexpr int kMargin = 16;
constexpr int kLineHeight = 18;
constexpr int kCharacterWidth = 8;  // of a 13 px monospaced font, rounded up
constexpr int kPadding = 10;
constexpr int kBoxGap = 32;
constexpr int kLayerGap = 56;

constexpr const char* kStyle = R"(  <style>
    text { font: 13px ui-monospace, monospace; fill: #1f2328; }
    .name { font-weight: bold; }
    .label { font-size: 11px; fill: #59636e; text-anchor: middle;
             paint-order: stroke; stroke: #ffffff; stroke-width: 3px; }
    .box { stroke: #59636e; fill: #f6f8fa; }
    .producer { fill: #ddf4ff; } .consumer { fill: #dafbe1; }
    .edge { stroke: #59636e; stroke-width: 1.5; fill: none; }
    .head { fill: #59636e; }
    @media (prefers-color-scheme: dark) {
      text { fill: #f0f6fc; }
      .label { fill: #9198a1; stroke: #0d1117; }
      .box { stroke: #9198a1; fill: #212830; }
      .producer { fill: #0c2d6b; } .consumer { fill: #033a16; }
      .edge { stroke: #9198a1; } .head { fill: #9198a1; }
    }
  </style>
  <defs>
    <marker id="head" markerWidth="8" markerHeight="8" refX="7" refY="4" orient="auto">
      <path class="head" d="M0,0 L8,4 L0,8 z"/>
    </marker>
  </defs>
)";

std::string xml_text(const std::string& text) {
  std::string out;
  for (const char c : printable(text)) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

LayoutSize box_size(const std::vector<std::string>& lines) {
  std::size_t width = 0;
  for (const std::string& line : lines) width = std::max(width, text_width(line));
  const int pixels = static_cast<int>(width) * kCharacterWidth + 2 * kPadding;
  return {pixels | 1, static_cast<int>(lines.size()) * kLineHeight + 2 * kPadding};
}

class Drawing {
 public:
  explicit Drawing(const ValidGraph& graph) : graph_(graph) {
    std::vector<LayoutSize> sizes;
    for (const ValidStage& stage : graph.stages) {
      lines_.push_back(stage_lines(graph, stage));
      sizes.push_back(box_size(lines_.back()));
    }
    layout_ = lay_out_graph(graph, sizes, kBoxGap);
    int top = kMargin;
    for (int layer = 0; layer < static_cast<int>(layout_.layers.size()); ++layer) {
      tops_.push_back(top);
      top += layout_.layer_height(layer) + kLayerGap;
    }
    height_ = std::max(top - kLayerGap, kMargin) + kMargin;
  }

  std::string draw() const {
    const int width = layout_.width + 2 * kMargin;
    std::string out =
        concat("<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"", width, "\" height=\"", height_,
               "\" viewBox=\"0 0 ", width, " ", height_, "\" role=\"img\">\n  <title>",
               xml_text(graph_.name), "</title>\n", kStyle);
    for (const LayoutEdge& edge : layout_.edges) out += curve(edge);
    for (const LayoutNode& node : layout_.nodes) out += node.stage < 0 ? bend(node) : box(node);
    for (const LayoutEdge& edge : layout_.edges) out += label(edge);
    return out + "</svg>\n";
  }

 private:
  int top(const LayoutNode& node) const { return tops_[node.layer]; }
  int bottom(const LayoutNode& node) const {
    return top(node) + (node.stage < 0 ? layout_.layer_height(node.layer) : node.size.height);
  }

  std::string curve(const LayoutEdge& edge) const {
    const LayoutNode& to = layout_.nodes[edge.to];
    const int x1 = edge.exit + kMargin;
    const int y1 = bottom(layout_.nodes[edge.from]);
    const int x2 = edge.entry + kMargin;
    const int y2 = top(to);
    const int middle = (y1 + y2) / 2;
    const char* head = to.stage < 0 ? "" : " marker-end=\"url(#head)\"";
    return concat("  <path class=\"edge\" d=\"M", x1, ",", y1, " C", x1, ",", middle, " ", x2, ",",
                  middle, " ", x2, ",", y2, "\"", head, "/>\n");
  }

  std::string bend(const LayoutNode& node) const {
    const int x = node.center + kMargin;
    return concat("  <path class=\"edge\" d=\"M", x, ",", top(node), " V", bottom(node), "\"/>\n");
  }

  std::string box(const LayoutNode& node) const {
    const ValidStage& stage = graph_.stages[node.stage];
    std::string out = concat("  <g>\n    <rect class=\"box ", stage_kind_name(stage.kind),
                             "\" x=\"", node.left() + kMargin, "\" y=\"", top(node), "\" width=\"",
                             node.size.width, "\" height=\"", node.size.height, "\" rx=\"6\"/>\n");
    int y = top(node) + kPadding + kLineHeight - 5;  // 5: from the baseline down
    for (std::size_t i = 0; i < lines_[node.stage].size(); ++i, y += kLineHeight)
      out += concat("    <text", i == 0 ? " class=\"name\"" : "", " x=\"",
                    node.left() + kMargin + kPadding, "\" y=\"", y, "\">",
                    xml_text(lines_[node.stage][i]), "</text>\n");
    return out + "  </g>\n";
  }

  /// Beside the end of the edge that has fewer neighbours.
  std::string label(const LayoutEdge& edge) const {
    const LayoutNode& to = layout_.nodes[edge.to];
    if (to.stage < 0) return "";
    const ValidStage& reader = graph_.stages[to.stage];
    std::vector<std::string> texts;
    for (std::size_t i = 0; i < reader.sources.size(); ++i)
      if (reader.sources[i].stage == source_of(edge.from))
        if (std::string text = edge_label(graph_, reader, i); !text.empty())
          texts.push_back(std::move(text));
    if (texts.empty()) return "";
    const bool at_exit = reader.sources.size() > 1;
    const int x = (at_exit ? 3 * edge.exit + edge.entry : edge.exit + 3 * edge.entry) / 4;
    const int y =
        at_exit ? bottom(layout_.nodes[edge.from]) + kLayerGap / 3 : top(to) - kLayerGap / 3;
    return concat("  <text class=\"label\" x=\"", x + kMargin, "\" y=\"", y, "\">",
                  xml_text(join(texts, "; ")), "</text>\n");
  }

  /// The stage at the upper end of the bends above a node.
  int source_of(int node) const {
    while (layout_.nodes[node].stage < 0)
      for (const LayoutEdge& edge : layout_.edges)
        if (edge.to == node) {
          node = edge.from;
          break;
        }
    return layout_.nodes[node].stage;
  }

  const ValidGraph& graph_;
  std::vector<std::vector<std::string>> lines_;
  GraphLayout layout_;
  std::vector<int> tops_;
  int height_ = 0;
};

}  // namespace

std::string draw_svg(const ValidGraph& graph) { return Drawing(graph).draw(); }

}  // namespace brigade
