#include "pipeline/config/language/program_reads.h"

#include <algorithm>
#include <set>
#include <utility>

#include <brigade/text.h>
#include "pipeline/config/language/class_source.h"

namespace brigade {
namespace {

constexpr std::string_view kApplication = "application";
/// Of the keys of a consumer, those that an application has, too.
constexpr std::string_view kKept[] = {"consumer",  "from", "join",
                                      "drop_last", "hold", "hold_timeout"};
/// Of those, the ones about the program: a stage that is not a consumer lends them to its output.
bool is_of_program(std::string_view key) { return key == "hold" || key == "hold_timeout"; }

bool is_application(const StageSpec& stage) {
  return stage.kind == StageKind::consumer && stage.types.size() == 1 &&
         stage.types.front().name.value == kApplication;
}

auto find_stage(auto& graph, std::string_view name) {
  const auto found =
      std::find_if(graph.stages.begin(), graph.stages.end(),
                   [name](const StageSpec& stage) { return stage.name.value == name; });
  return found == graph.stages.end() ? nullptr : &*found;
}

/// In place of a consumer of another type.
StageSpec as_application(const StageSpec& stage) {
  StageSpec output;
  output.name = stage.name;
  output.kind = StageKind::consumer;
  output.types.push_back({{std::string(kApplication), stage.types.front().name.span}, {}});
  output.sources = stage.sources;
  for (SourceSpec& source : output.sources) source.batch_of_one = true;
  output.from = stage.from;
  output.join = stage.join;
  output.drop_last = stage.drop_last;
  output.hold = stage.hold;
  output.hold_timeout_ns = stage.hold_timeout_ns;
  std::copy_if(stage.keys.begin(), stage.keys.end(), std::back_inserter(output.keys),
               [](const GivenKey& given) {
                 return std::find(std::begin(kKept), std::end(kKept), given.key->name) !=
                        std::end(kKept);
               });
  output.broken = stage.broken;
  return output;
}

/// The size of batches that one of its readers asks for: of a stage that says none itself.
Given<std::uint64_t> batch_of_readers(const GraphSpec& graph, const StageSpec& stage) {
  if (stage.find("batch") != nullptr) return {};
  for (const StageSpec& reader : graph.stages)
    for (const SourceSpec& source : reader.sources)
      if (source.stage == stage.name.value && source.batch) return source.batch;
  return {};
}

/// Takes the stage's `hold:` and `hold_timeout:`, which are about its reader.
StageSpec beneath(const GraphSpec& graph, StageSpec& stage) {
  StageSpec output;
  output.hold = stage.hold;
  output.hold_timeout_ns = stage.hold_timeout_ns;
  std::erase_if(stage.keys, [&](const GivenKey& given) {
    const bool taken = is_of_program(given.key->name);
    if (taken) output.keys.push_back(given);
    return taken;
  });
  output.name = {output_of(stage.name.value), stage.name.span};
  output.kind = StageKind::consumer;
  output.types.push_back({{std::string(kApplication), stage.name.span}, {}});
  SourceSpec source;
  source.span = stage.name.span;
  source.stage = stage.name.value;
  source.batch = batch_of_readers(graph, stage);
  source.batch_of_one = true;
  output.sources.push_back(std::move(source));
  output.from = stage.name.span;
  return output;
}

/// It and all that it reads.
void keep_above(const GraphSpec& graph, const StageSpec& stage, std::set<std::string>& kept) {
  if (!kept.insert(stage.name.value).second) return;
  for (const SourceSpec& source : stage.sources)
    if (const StageSpec* above = find_stage(graph, source.stage)) keep_above(graph, *above, kept);
  for (const Marked<std::string>& part : stage.mixed)
    if (const StageSpec* above = find_stage(graph, part.value)) keep_above(graph, *above, kept);
}

void no_such_stage(const GraphSpec& graph, const std::string& name, Diagnostics& diagnostics) {
  std::vector<std::string> names;
  for (const StageSpec& stage : graph.stages) names.push_back(stage.name.value);
  std::vector<std::string> help;
  if (const auto meant = did_you_mean(name, names))
    help.push_back(concat("did you mean ", quote(*meant), "?"));
  help.push_back(concat("the graph has ", join(names, ", ")));
  diagnostics.error(graph.stages_span, concat("there is no stage ", quote(name), " to read"),
                    std::move(help));
}

}  // namespace

std::string output_of(const std::string& stage) { return stage + "_output"; }

std::vector<std::string> left_to_program(const GraphSpec& graph) {
  std::set<std::string_view> read;
  for (const StageSpec& stage : graph.stages) {
    if (!stage.kind || stage.broken || stage.kind == StageKind::consumer) return {};
    for (const SourceSpec& source : stage.sources) read.insert(source.stage);
    for (const Marked<std::string>& part : stage.mixed) read.insert(part.value);
  }
  std::vector<std::string> left;
  for (const StageSpec& stage : graph.stages)
    if (!read.contains(stage.name.value)) left.push_back(stage.name.value);
  return left;
}

GraphSpec read_by_program(GraphSpec graph, const std::vector<std::string>& stages,
                          Diagnostics& diagnostics) {
  std::set<std::string> kept;
  std::vector<StageSpec> beneath_others;
  for (const std::string& name : stages) {
    StageSpec* stage = find_stage(graph, name);
    if (stage == nullptr) {
      no_such_stage(graph, name, diagnostics);
      continue;
    }
    keep_above(graph, *stage, kept);
    if (stage->kind != StageKind::consumer) beneath_others.push_back(beneath(graph, *stage));
  }
  const bool is_named =
      std::any_of(graph.stages.begin(), graph.stages.end(), [&kept](const StageSpec& stage) {
        return kept.contains(stage.name.value) && names_classes(stage);
      });
  StageSpec* const source = is_named ? find_stage(graph, graph.class_source) : nullptr;
  if (source != nullptr) source->only_names = kept.insert(graph.class_source).second;
  std::erase_if(graph.stages,
                [&](const StageSpec& stage) { return !kept.contains(stage.name.value); });
  for (StageSpec& stage : graph.stages)
    if (stage.kind == StageKind::consumer && !stage.types.empty() && !is_application(stage))
      stage = as_application(stage);
  for (StageSpec& output : beneath_others)
    if (find_stage(graph, output.name.value) == nullptr) graph.stages.push_back(std::move(output));
  graph.checkpoint_file.reset();
  graph.checkpoint_every.reset();
  return graph;
}

}  // namespace brigade
