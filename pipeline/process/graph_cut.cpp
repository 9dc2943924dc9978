#include "pipeline/process/graph_cut.h"

#include <vector>

#include "base/text.h"

namespace brigade {
namespace {

int find_stage(const ValidGraph& graph, const std::string& name) {
  for (int s = 0; s < static_cast<int>(graph.stages.size()); ++s) {
    if (graph.stages[static_cast<std::size_t>(s)].name == name) return s;
  }
  return -1;
}

Error unknown_stage(const ValidGraph& graph, const std::string& name) {
  std::vector<std::string> names;
  for (const ValidStage& stage : graph.stages) names.push_back(stage.name);
  const auto meant = did_you_mean(name, names);
  return Error{concat("there is no stage ", quote(name),
                      meant ? concat("; did you mean ", quote(*meant), "?") : std::string(),
                      "  The stages are ", join(names, ", "))};
}

// Sources come before readers, so one pass from below finds everything above.
std::vector<bool> stages_above(const ValidGraph& graph, int stage) {
  std::vector<bool> needed(graph.stages.size(), false);
  needed[static_cast<std::size_t>(stage)] = true;
  for (std::size_t s = graph.stages.size(); s-- > 0;) {
    if (!needed[s]) continue;
    for (const ValidSource& source : graph.stages[s].sources) {
      needed[static_cast<std::size_t>(source.stage)] = true;
    }
  }
  return needed;
}

}  // namespace

Result<ValidGraph> cut_below(const ValidGraph& graph, const std::string& stage,
                             const StageType& reader, const std::string& reader_name) {
  const int last = find_stage(graph, stage);
  if (last < 0) return unknown_stage(graph, stage);
  const std::vector<bool> needed = stages_above(graph, last);
  ValidGraph cut = graph;
  cut.stages.clear();
  std::vector<int> moved(graph.stages.size(), -1);
  for (std::size_t s = 0; s < graph.stages.size(); ++s) {
    if (!needed[s]) continue;
    moved[s] = static_cast<int>(cut.stages.size());
    ValidStage& kept = cut.stages.emplace_back(graph.stages[s]);
    for (ValidSource& source : kept.sources) {
      source.stage = moved[static_cast<std::size_t>(source.stage)];
    }
  }
  const ValidStage& writer = graph.stages[static_cast<std::size_t>(last)];
  if (writer.kind == StageKind::consumer) {
    return Error{concat("stage ", quote(stage),
                        " is a consumer: it emits nothing; name one of its ", "sources")};
  }
  ValidStage below;
  below.name = reader_name;
  below.mark = writer.mark;
  below.kind = StageKind::consumer;
  below.type = &reader;
  below.params = reader.contract.make_params();
  below.random = reader_name;
  ValidSource source;
  source.stage = moved[static_cast<std::size_t>(last)];
  source.port = stage;
  source.tensors = writer.outputs;
  source.mark = writer.mark;
  below.sources = {source};
  cut.stages.push_back(below);
  return cut;
}

}  // namespace brigade
