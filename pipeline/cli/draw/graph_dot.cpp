#include <brigade/text.h>
#include "base/printable.h"
#include "pipeline/cli/draw/graph_printer.h"

namespace brigade {
namespace {

/// A quoted string of the dot language: only quotes and backslashes need a backslash.
std::string dot_text(const std::string& text) {
  std::string out = "\"";
  for (const char c : printable(text)) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + "\"";
}

/// Lines of a label: `\n` between them, which dot itself understands.
std::string dot_label(const std::vector<std::string>& lines) {
  std::string out = "\"";
  for (const std::string& line : lines) {
    if (out.size() > 1) out += "\\n";
    const std::string quoted = dot_text(line);
    out += quoted.substr(1, quoted.size() - 2);
  }
  return out + "\"";
}

const char* shape_of(StageKind kind) {
  if (kind == StageKind::producer) return "invhouse";
  return kind == StageKind::consumer ? "house" : "box";
}

}  // namespace

std::string draw_dot(const ValidGraph& graph) {
  std::string out =
      concat("digraph ", dot_text(graph.name), " {\n", "  node [fontname=\"sans-serif\"]\n",
             "  edge [fontname=\"sans-serif\", fontsize=10]\n");
  for (const ValidStage& stage : graph.stages)
    out += concat("  ", dot_text(stage.name), " [shape=", shape_of(stage.kind),
                  ", label=", dot_label(stage_lines(graph, stage)), "]\n");
  for (const ValidStage& stage : graph.stages) {
    for (std::size_t i = 0; i < stage.sources.size(); ++i) {
      out += concat("  ", dot_text(graph.stages[stage.sources[i].stage].name), " -> ",
                    dot_text(stage.name));
      const std::string label = edge_label(graph, stage, i);
      out += label.empty() ? "\n" : concat(" [label=", dot_text(label), "]\n");
    }
  }
  return out + "}\n";
}

}  // namespace brigade
