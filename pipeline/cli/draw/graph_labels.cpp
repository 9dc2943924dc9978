#include <brigade/text.h>
#include "pipeline/cli/draw/graph_printer.h"
#include "pipeline/plan/planner/task_sizes.h"

namespace brigade {
namespace {

constexpr std::size_t kTensorsShown = 4;

std::string join_text(Join how) {
  switch (how) {
    case Join::single:
      return "";
    case Join::zip:
      return "zip of ";
    case Join::merge:
      return "merge of ";
    case Join::epochs:
      return "epochs of ";
  }
  return "";
}

}  // namespace

std::vector<std::string> stage_lines(const ValidGraph& graph, const ValidStage& stage) {
  std::vector<std::string> lines = {stage.name};
  std::string type = stage.type->contract.type;
  if (stage.replicas == 0) type += " x auto";
  if (stage.replicas > 1) type += concat(" x ", stage.replicas);
  if (stage.type->contract.numbering == Numbering::expand && stage.outputs_per_input > 1)
    type += concat(", ", stage.outputs_per_input, " per input");
  lines.push_back(std::move(type));
  if (stage.sources.size() > 1) {
    std::vector<std::string> names;
    for (const ValidSource& source : stage.sources)
      names.push_back(source.port.empty() ? graph.stages[source.stage].name : source.port);
    lines.push_back(concat(join_text(stage.join), join(names, ", ")));
  }
  const auto& tensors = stage.outputs.tensors;
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    if (i == kTensorsShown && tensors.size() > kTensorsShown + 1) {
      lines.push_back(concat("and ", tensors.size() - i, " more"));
      break;
    }
    lines.push_back(tensors[i].text());
  }
  return lines;
}

std::string edge_label(const ValidGraph& graph, const ValidStage& reader, std::size_t source) {
  const ValidSource& edge = reader.sources[source];
  std::vector<std::string> parts;
  if (!edge.port.empty() && edge.port != graph.stages[edge.stage].name) parts.push_back(edge.port);
  if (!edge.tensor.empty()) parts.push_back(concat("only ", edge.tensor));
  if (reader.batched) parts.push_back(concat("batches of ", edge_batch(graph, reader, source)));
  return join(parts, ", ");
}

}  // namespace brigade
