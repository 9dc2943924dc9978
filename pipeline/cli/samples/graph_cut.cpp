#include "pipeline/cli/samples/graph_cut.h"

#include <vector>

#include <brigade/text.h>
#include "pipeline/config/graph/valid_graph.h"

namespace brigade {
namespace {

Error unknown_stage(const ValidGraph& graph, const std::string& name) {
  std::vector<std::string> names;
  for (const ValidStage& stage : graph.stages) names.push_back(stage.name);
  const auto meant = did_you_mean(name, names);
  return Error{concat("there is no stage ", quote(name),
                      meant ? concat("; did you mean ", quote(*meant), "?") : std::string(),
                      "  The stages are ", join(names, ", "))};
}

}  // namespace

Result<ValidGraph> cut_below(const ValidGraph& graph, const std::string& stage,
                             const StageType& reader, const std::string& reader_name) {
  const StageNumber last = find_stage(graph, stage);
  if (last < 0) return unknown_stage(graph, stage);
  const ValidStage& writer = graph.stages[last];
  if (writer.kind == StageKind::consumer) {
    return Error{concat("stage ", quote(stage),
                        " is a consumer, which has no output; choose one of its ", "sources")};
  }
  ByStage<bool> kept = stages_above(graph, last);
  kept[last] = true;
  ValidGraph cut = graph;
  keep_stages(cut, kept);
  ValidStage below;
  below.name = reader_name;
  below.mark = writer.mark;
  below.kind = StageKind::consumer;
  below.type = &reader;
  below.params = reader.contract.make_params();
  below.random = reader_name;
  ValidSource source;
  source.stage = find_stage(cut, stage);
  source.port = stage;
  source.tensors = writer.outputs;
  source.mark = writer.mark;
  below.sources = {source};
  cut.stages.push_back(below);
  return cut;
}

}  // namespace brigade
