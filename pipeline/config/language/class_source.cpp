#include "pipeline/config/language/class_source.h"

#include <algorithm>
#include <set>

namespace brigade {
namespace {

constexpr std::string_view kTrain = "train";

const StageSpec* find_stage(const GraphSpec& graph, std::string_view name) {
  const auto found =
      std::find_if(graph.stages.begin(), graph.stages.end(),
                   [name](const StageSpec& stage) { return stage.name.value == name; });
  return found == graph.stages.end() ? nullptr : &*found;
}

/// Itself, or the first above it.
const StageSpec* first_above(const GraphSpec& graph, std::string_view name,
                             std::set<std::string_view>& seen) {
  const StageSpec* const stage = find_stage(graph, name);
  if (stage == nullptr || !seen.insert(stage->name.value).second) return nullptr;
  if (names_classes(*stage)) return stage;
  for (const SourceSpec& source : stage->sources)
    if (const StageSpec* above = first_above(graph, source.stage, seen)) return above;
  for (const Marked<std::string>& part : stage->mixed)
    if (const StageSpec* above = first_above(graph, part.value, seen)) return above;
  return nullptr;
}

}  // namespace

bool names_classes(const StageSpec& stage) {
  if (stage.kind != StageKind::producer || !stage.params) return false;
  const YamlNode& params = stage.params->value;
  const YamlEntry* const labels = params.find("labels");
  return labels != nullptr && labels->value.is_scalar() && labels->value.text == "names" &&
         params.find("classes") == nullptr && params.find("names") == nullptr;
}

std::string first_class_source(const GraphSpec& graph) {
  std::set<std::string_view> seen;
  for (const StageSpec& stage : graph.stages)
    for (const SourceSpec& source : stage.sources)
      if (source.port && source.port->value == kTrain)
        if (const StageSpec* first = first_above(graph, source.stage, seen))
          return first->name.value;
  const auto first = std::find_if(graph.stages.begin(), graph.stages.end(), names_classes);
  return first == graph.stages.end() ? "" : first->name.value;
}

}  // namespace brigade
