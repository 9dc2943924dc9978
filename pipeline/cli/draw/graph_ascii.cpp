#include <algorithm>
#include <functional>
#include <map>

#include <brigade/text.h>
#include "base/text_table.h"
#include "pipeline/cli/draw/graph_layout.h"
#include "pipeline/cli/draw/graph_printer.h"
#include "pipeline/plan/planner/task_sizes.h"

namespace brigade {
namespace {

constexpr int kBoxGap = 3;    // columns between boxes
constexpr int kBoxFrame = 4;  // "| " and " |"
constexpr int kLineWidthMax = 60;

/// A grid of characters; a cell may hold a whole UTF-8 character.
class Canvas {
 public:
  Canvas(int width, int height)
      : cells_(static_cast<std::size_t>(height),
               std::vector<std::string>(static_cast<std::size_t>(width), " ")) {}

  std::string& at(int x, int y) {
    return cells_[static_cast<std::size_t>(y)][static_cast<std::size_t>(x)];
  }

  void write(int x, int y, const std::string& text) {
    for (std::size_t i = 0; i < text.size(); ++x) {
      std::size_t end = i + 1;
      while (end < text.size() && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80) ++end;
      at(x, y) = text.substr(i, end - i);
      i = end;
    }
  }

  std::string text() const {
    std::string out;
    for (const auto& row : cells_) {
      std::string line;
      for (const std::string& cell : row) line += cell;
      out += line.substr(0, line.find_last_not_of(' ') + 1) + '\n';
    }
    return out;
  }

 private:
  std::vector<std::vector<std::string>> cells_;
};

using Lines = std::vector<std::string>;

std::string shortened(const std::string& text) {
  if (text_width(text) <= kLineWidthMax) return text;
  std::size_t end = kLineWidthMax - 3;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80) --end;
  return text.substr(0, end) + "...";
}

Lines box_lines(const ValidGraph& graph, const ValidStage& stage) {
  Lines lines = stage_lines(graph, stage);
  std::vector<std::string> batches;
  for (std::size_t i = 0; stage.batched && i < stage.sources.size(); ++i)
    batches.push_back(concat(edge_batch(graph, stage, i)));
  if (std::adjacent_find(batches.begin(), batches.end(), std::not_equal_to<>()) == batches.end())
    batches.resize(std::min<std::size_t>(batches.size(), 1));
  if (!batches.empty()) lines.push_back(concat("batches of ", join(batches, ", ")));
  for (std::string& line : lines) line = shortened(line);
  return lines;
}

LayoutSize box_size(const Lines& lines) {
  std::size_t width = 0;
  for (const std::string& line : lines) width = std::max(width, text_width(line));
  const int framed = static_cast<int>(width) + kBoxFrame;
  return {framed | 1, static_cast<int>(lines.size()) + 2};
}

void draw_box(Canvas& canvas, const LayoutNode& node, const Lines& lines, int top) {
  const std::string edge = "+" + std::string(node.size.width - 2, '-') + "+";
  canvas.write(node.left(), top, edge);
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const int y = top + 1 + static_cast<int>(i);
    canvas.write(node.left(), y, "|");
    canvas.write(node.left() + 2, y, lines[i]);
    canvas.write(node.left() + node.size.width - 1, y, "|");
  }
  canvas.write(node.left(), top + node.size.height - 1, edge);
}

void draw_vertical(Canvas& canvas, int x, int from, int to) {
  for (int y = from; y < to; ++y) canvas.at(x, y) = "|";
}

/// The lines that leave one node: a stem down to a track, along it, and down again.
struct Bus {
  int exit = 0;
  std::vector<int> entries;
  int track = -1;  // -1: straight down
  int first() const { return std::min(exit, *std::min_element(entries.begin(), entries.end())); }
  int last() const { return std::max(exit, *std::max_element(entries.begin(), entries.end())); }
};

std::vector<Bus> buses_below(const GraphLayout& layout, int layer) {
  std::map<int, Bus> by_node;
  for (const LayoutEdge& edge : layout.edges) {
    if (layout.nodes[edge.from].layer != layer) continue;
    by_node[edge.from].exit = edge.exit;
    by_node[edge.from].entries.push_back(edge.entry);
  }
  std::vector<Bus> buses;
  for (auto& [node, bus] : by_node) buses.push_back(std::move(bus));
  return buses;
}

/// Buses whose spans touch get different tracks. Returns the number of tracks.
int assign_tracks(std::vector<Bus>& buses) {
  std::vector<int> free_from;  // per track, the first free column
  std::sort(buses.begin(), buses.end(),
            [](const Bus& a, const Bus& b) { return a.first() < b.first(); });
  for (Bus& bus : buses) {
    if (bus.first() == bus.last()) continue;
    bus.track = 0;
    while (bus.track < static_cast<int>(free_from.size()) && free_from[bus.track] > bus.first())
      ++bus.track;
    if (bus.track == static_cast<int>(free_from.size())) free_from.push_back(0);
    free_from[bus.track] = bus.last() + 2;
  }
  return static_cast<int>(free_from.size());
}

void draw_bus(Canvas& canvas, const Bus& bus, int top, int bottom) {
  if (bus.track < 0) {
    draw_vertical(canvas, bus.exit, top, bottom);
    return;
  }
  const int y = top + 1 + bus.track;
  for (int x = bus.first(); x <= bus.last(); ++x)
    if (canvas.at(x, y) != "|") canvas.at(x, y) = "-";
  draw_vertical(canvas, bus.exit, top, y);
  canvas.at(bus.exit, y) = "+";
  for (const int entry : bus.entries) {
    canvas.at(entry, y) = "+";
    draw_vertical(canvas, entry, y + 1, bottom);
  }
}

class Drawing {
 public:
  Drawing(const GraphLayout& layout, const ByStage<Lines>& lines)
      : layout_(layout), lines_(lines), canvas_(layout.width, height()) {}

  std::string draw() {
    int top = 0;
    for (int layer = 0; layer < layers(); ++layer) {
      const int bottom = top + layout_.layer_height(layer);
      for (const int node : layout_.layers[layer]) draw_node(layout_.nodes[node], top, bottom);
      if (layer + 1 == layers()) break;
      top = draw_gap(layer, bottom);
    }
    return canvas_.text();
  }

 private:
  int layers() const { return static_cast<int>(layout_.layers.size()); }

  static int gap_height(int tracks) { return tracks == 0 ? 2 : tracks + 3; }

  int height() const {
    int total = 0;
    for (int layer = 0; layer < layers(); ++layer) {
      total += layout_.layer_height(layer);
      std::vector<Bus> buses = buses_below(layout_, layer);
      if (layer + 1 < layers()) total += gap_height(assign_tracks(buses));
    }
    return total;
  }

  void draw_node(const LayoutNode& node, int top, int bottom) {
    if (node.stage >= 0) draw_box(canvas_, node, lines_[node.stage], top);
    const bool has_reader =
        std::any_of(layout_.edges.begin(), layout_.edges.end(),
                    [&](const LayoutEdge& edge) { return &layout_.nodes[edge.from] == &node; });
    if (has_reader) draw_vertical(canvas_, node.center, top + node.size.height, bottom);
  }

  /// Lines from the boxes above `top` to those below; returns where the next layer starts.
  int draw_gap(int layer, int top) {
    std::vector<Bus> buses = buses_below(layout_, layer);
    const int bottom = top + gap_height(assign_tracks(buses));
    for (const Bus& bus : buses) draw_bus(canvas_, bus, top, bottom);
    for (const LayoutEdge& edge : layout_.edges)
      if (layout_.nodes[edge.to].layer == layer + 1 && layout_.nodes[edge.to].stage >= 0)
        canvas_.at(edge.entry, bottom - 1) = "v";
    return bottom;
  }

  const GraphLayout& layout_;
  const ByStage<Lines>& lines_;
  Canvas canvas_;
};

}  // namespace

std::string draw_ascii(const ValidGraph& graph) {
  ByStage<Lines> lines;
  ByStage<LayoutSize> sizes;
  for (const ValidStage& stage : graph.stages) {
    lines.push_back(box_lines(graph, stage));
    sizes.push_back(box_size(lines.back()));
  }
  const GraphLayout layout = lay_out_graph(graph, sizes, kBoxGap);
  return Drawing(layout, lines).draw();
}

}  // namespace brigade
