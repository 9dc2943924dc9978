#include "pipeline/cli/draw/graph_layout.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

namespace brigade {
namespace {

constexpr int kSweeps = 4;

ByStage<int> choose_layers(const ValidGraph& graph) {
  ByStage<int> layer(graph.stages.size(), 0);
  for (const StageNumber s : graph.stages.numbers())
    for (const ValidSource& source : graph.stages[s].sources)
      layer[s] = std::max(layer[s], layer[source.stage] + 1);
  ByStage<int> nearest_reader(graph.stages.size(), -1);
  for (StageNumber s = graph.stages.next_number(); s-- > 0;) {
    if (nearest_reader[s] >= 0) layer[s] = nearest_reader[s] - 1;
    for (const ValidSource& source : graph.stages[s].sources) {
      int& nearest = nearest_reader[source.stage];
      nearest = nearest < 0 ? layer[s] : std::min(nearest, layer[s]);
    }
  }
  return layer;
}

class Layout {
 public:
  Layout(const ValidGraph& graph, const ByStage<LayoutSize>& sizes, int gap)
      : graph_(graph), gap_(gap) {
    add_nodes(sizes);
    add_edges();
    sort_layers();
    place();
    place_ports();
  }

  GraphLayout take() { return std::move(out_); }

 private:
  void add_nodes(const ByStage<LayoutSize>& sizes) {
    const ByStage<int> layers = choose_layers(graph_);
    for (const StageNumber s : sizes.numbers()) add_node({s, layers[s], 0, sizes[s]});
  }

  int add_node(const LayoutNode& node) {
    const int index = static_cast<int>(out_.nodes.size());
    out_.nodes.push_back(node);
    if (static_cast<int>(out_.layers.size()) <= node.layer) out_.layers.resize(node.layer + 1);
    out_.layers[node.layer].push_back(index);
    above_.emplace_back();
    below_.emplace_back();
    return index;
  }

  void connect(int from, int to) {
    if (std::find(below_[from].begin(), below_[from].end(), to) != below_[from].end()) return;
    out_.edges.push_back({from, to, 0, 0});
    below_[from].push_back(to);
    above_[to].push_back(from);
  }

  /// All edges that leave a stage share its bends.
  void add_edges() {
    std::map<std::pair<StageNumber, int>, int> bends;  // (stage, layer) -> node
    for (const StageNumber s : graph_.stages.numbers()) {
      for (const ValidSource& source : graph_.stages[s].sources) {
        int from = source.stage.value();
        for (int layer = out_.nodes[from].layer + 1; layer < out_.nodes[s.value()].layer; ++layer) {
          const auto [bend, added] = bends.try_emplace({source.stage, layer}, -1);
          if (added) bend->second = add_node({-1, layer, 0, {1, 0}});
          connect(from, bend->second);
          from = bend->second;
        }
        connect(from, s.value());
      }
    }
  }

  void sort_layers() {
    const int last = static_cast<int>(out_.layers.size()) - 1;
    for (int sweep = 0; sweep < kSweeps; ++sweep) {
      for (int layer = 1; layer <= last; ++layer) sort_layer(layer, above_);
      for (int layer = last - 1; layer >= 0; --layer) sort_layer(layer, below_);
    }
  }

  /// Nodes without such neighbours stay where they are among the others.
  void sort_layer(int layer, const std::vector<std::vector<int>>& neighbours) {
    std::vector<int>& nodes = out_.layers[layer];
    std::vector<double> rank(out_.nodes.size());
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      const std::vector<int>& near = neighbours[nodes[i]];
      double sum = 0;
      for (const int other : near) sum += place_in_layer(other);
      rank[nodes[i]] =
          near.empty() ? static_cast<double>(i) : sum / static_cast<double>(near.size());
    }
    std::stable_sort(nodes.begin(), nodes.end(), [&](int a, int b) { return rank[a] < rank[b]; });
  }

  double place_in_layer(int node) const {
    const std::vector<int>& nodes = out_.layers[out_.nodes[node].layer];
    return static_cast<double>(std::find(nodes.begin(), nodes.end(), node) - nodes.begin());
  }

  void place() {
    const int last = static_cast<int>(out_.layers.size()) - 1;
    for (int layer = 0; layer <= last; ++layer) place_layer(layer, above_);
    for (int layer = last - 1; layer >= 0; --layer) place_layer(layer, below_);
    for (int layer = 1; layer <= last; ++layer) place_layer(layer, above_);

    if (out_.nodes.empty()) return;
    int leftmost = out_.nodes[0].left();
    for (const LayoutNode& node : out_.nodes) leftmost = std::min(leftmost, node.left());
    for (LayoutNode& node : out_.nodes) {
      node.center -= leftmost;
      out_.width = std::max(out_.width, node.left() + node.size.width);
    }
  }

  double wish(int node, const std::vector<std::vector<int>>& neighbours) const {
    const std::vector<int>& near = neighbours[node];
    if (near.empty()) return out_.nodes[node].center;
    double sum = 0;
    for (const int other : near) sum += out_.nodes[other].center;
    return sum / static_cast<double>(near.size());
  }

  /// The places nearest to what the nodes wish (least squares) that keep order and gaps: without
  /// the room that nodes to their left take, places must only not fall, so runs that fall are
  /// replaced by their mean until none does.
  void place_layer(int layer, const std::vector<std::vector<int>>& neighbours) {
    struct Run {
      double sum;
      int count;
      double mean() const { return sum / count; }
    };
    const std::vector<int>& nodes = out_.layers[layer];
    std::vector<int> room(nodes.size());
    std::vector<Run> runs;
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      if (i > 0) room[i] = room[i - 1] + distance(nodes[i - 1], nodes[i]);
      runs.push_back({wish(nodes[i], neighbours) - room[i], 1});
      while (runs.size() > 1 && runs[runs.size() - 2].mean() > runs.back().mean()) {
        const Run falling = runs.back();
        runs.pop_back();
        runs.back() = {runs.back().sum + falling.sum, runs.back().count + falling.count};
      }
    }
    std::size_t next = 0;
    for (const Run& run : runs)
      for (int i = 0; i < run.count; ++i, ++next)
        out_.nodes[nodes[next]].center = static_cast<int>(std::floor(run.mean())) + room[next];
  }

  int distance(int left, int right) const {
    return out_.nodes[left].size.width / 2 + gap_ + (out_.nodes[right].size.width + 1) / 2;
  }

  /// Edges leave at a node's center and enter side by side, from left to right as they come; an
  /// entry below another node's exit moves, so that lines of two edges are never one.
  void place_ports() {
    for (LayoutEdge& edge : out_.edges) edge.exit = out_.nodes[edge.from].center;
    for (std::size_t n = 0; n < out_.nodes.size(); ++n) {
      std::vector<LayoutEdge*> entering;
      for (LayoutEdge& edge : out_.edges)
        if (edge.to == static_cast<int>(n)) entering.push_back(&edge);
      std::stable_sort(entering.begin(), entering.end(),
                       [](const auto* a, const auto* b) { return a->exit < b->exit; });
      const int count = static_cast<int>(entering.size());
      const LayoutNode& node = out_.nodes[n];
      for (int i = 0; i < count; ++i)
        entering[i]->entry = node.left() + (i + 1) * node.size.width / (count + 1);
      if (count == 1) entering[0]->entry = straight_entry(node, entering[0]->exit);
      for (LayoutEdge* edge : entering) avoid_exits(*edge);
    }
  }

  /// Right below the exit where the node is that wide.
  static int straight_entry(const LayoutNode& node, int exit) {
    const bool above = exit >= node.left() + 2 && exit < node.left() + node.size.width - 2;
    return above ? exit : node.center;
  }

  void avoid_exits(LayoutEdge& edge) const {
    const auto is_taken = [&](int x) {
      for (const LayoutEdge& other : out_.edges) {
        const bool beside = out_.nodes[other.from].layer == out_.nodes[edge.from].layer;
        if (beside && other.from != edge.from && other.exit == x) return true;
        if (&other != &edge && other.to == edge.to && other.entry == x) return true;
      }
      return false;
    };
    const LayoutNode& node = out_.nodes[edge.to];
    if (node.size.width < 5) return;
    while (is_taken(edge.entry) && edge.entry < node.left() + node.size.width - 2) ++edge.entry;
  }

  const ValidGraph& graph_;
  int gap_;
  GraphLayout out_;
  std::vector<std::vector<int>> above_;  // neighbours of each node
  std::vector<std::vector<int>> below_;
};

}  // namespace

int GraphLayout::layer_height(int layer) const {
  int height = 0;
  for (const int node : layers[layer]) height = std::max(height, nodes[node].size.height);
  return height;
}

GraphLayout lay_out_graph(const ValidGraph& graph, const ByStage<LayoutSize>& sizes, int gap) {
  return Layout(graph, sizes, gap).take();
}

}  // namespace brigade
