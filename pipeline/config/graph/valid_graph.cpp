#include "pipeline/config/graph/valid_graph.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "pipeline/config/language/key_table.h"
#include "pipeline/config/language/subset_parser.h"

namespace brigade {
namespace {

/// Of a producer that is only drawn from, those that count; they are none of the mixture's.
constexpr std::string_view kKeysOfParts[] = {"producer", "params",       "plugin", "skip",
                                             "split",    "part",         "limit",  "take",
                                             "weights",  "repeat_factor"};

}  // namespace

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

std::uint8_t key_users(const ValidStage& stage) {
  switch (stage.kind) {
    case StageKind::producer:
      if (stage.type == nullptr) return kProducers | kDividedProducers;
      return stage.type->indexed ? kIndexedProducers | kDividedProducers : kStreamProducers;
    case StageKind::transform:  // a cache is a source of what is below it
      return stage.type != nullptr && stage.type->contract.cache ? kTransforms | kIndexedProducers
                                                                 : kTransforms;
    case StageKind::consumer:
      return kConsumers;
  }
  return kAllStages;
}

bool is_key_of_part(std::string_view key) {
  return std::ranges::find(kKeysOfParts, key) != std::end(kKeysOfParts);
}

}  // namespace brigade
