#include "pipeline/config/graph/graph_parts.h"

#include <utility>

namespace brigade {

StageNumber find_stage(const ValidGraph& graph, std::string_view name) {
  for (const StageNumber s : graph.stages.numbers())
    if (graph.stages[s].name == name) return s;
  return -1;
}

ByStage<bool> stages_above(const ValidGraph& graph, StageNumber stage) {
  ByStage<bool> above(graph.stages.size());
  for (StageNumber s = stage; s >= 0; --s) {  // sources before readers
    if (s != stage && !above[s]) continue;
    for (const ValidSource& source : graph.stages[s].sources) above[source.stage] = true;
  }
  return above;
}

void keep_stages(ValidGraph& graph, const ByStage<bool>& kept) {
  ByStage<StageNumber> moved(graph.stages.size(), -1);
  ByStage<ValidStage> left;
  for (const StageNumber s : graph.stages.numbers()) {
    if (!kept[s]) continue;
    moved[s] = left.next_number();
    left.push_back(std::move(graph.stages[s]));
    for (ValidSource& source : left.back().sources) source.stage = moved[source.stage];
  }
  graph.stages = std::move(left);
}

}  // namespace brigade
