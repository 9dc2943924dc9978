#include "pipeline/api/load_and_plan.h"

#include <algorithm>

#include <brigade/pipeline.h>
#include <brigade/text.h>
#include "base/log.h"
#include "base/printable.h"
#include "pipeline/api/count_sources.h"
#include "pipeline/config/graph/file_metadata.h"
#include "pipeline/config/yaml/source_text.h"
#include "pipeline/memory/machine_probe.h"
#include "pipeline/plan/planner/planner.h"
#include "pipeline/run/launch/describe_process.h"
#include "pipeline/state/cache_reuse.h"
#include "pipeline/worker/plugin_loader.h"

namespace brigade {

LoadedGraph load_files(const GraphFiles& files, const StageTypes& types) {
  FileMetadataProbe metadata;
  PluginFiles plugins;
  DescribeProcess asking;
  return load_graph({.files = files.files,
                     .sets = files.sets,
                     .limit = files.limit,
                     .types = types,
                     .metadata = metadata,
                     .environment = process_environment(),
                     .working_directory = process_working_directory(),
                     .plugins = &plugins,
                     .describer = files.describer == nullptr ? &asking : files.describer,
                     .texts = files.texts,
                     .read = files.read,
                     .rank = files.rank,
                     .may_lack_consumers = files.may_lack_consumers});
}

namespace {

/// Of a cache, room is planned by what its source has.
bool has_cache(const ValidGraph& graph) {
  return std::any_of(graph.stages.begin(), graph.stages.end(), [](const ValidStage& stage) {
    return stage.type->contract.cache && stage.samples == 0;
  });
}

/// Plans again where some sources had to be counted.
void count(ValidGraph& graph, const MachineLimits& limits, const StageTypes& types,
           PlanResult& planned) {
  if (count_sources(graph, planned.plan, types)) planned = plan_graph(graph, limits);
}

/// Plans again without what the files of caches make needless. Returns what there is to note.
std::string use_files_of_caches(const ValidGraph& loaded, const StageTypes& types, bool counts,
                                PlannedGraph& graph, PlanResult& planned) {
  CacheReuse use = reuse_cache_files(loaded, planned.plan, types);
  if (use.any && use.problems.empty()) planned = plan_graph(use.graph, graph.limits);
  planned.problems.insert(planned.problems.end(), use.problems.begin(), use.problems.end());
  if (planned.ok() && counts) count(use.graph, graph.limits, types, planned);
  if (planned.ok()) {
    graph.sources = planned_sources(use.graph, planned.plan);
    graph.consumers = consumer_epochs(use.graph, planned.plan);
  }
  for (std::string& warning : use.warnings) planned.plan.warnings.push_back(std::move(warning));
  std::string notes;
  for (const std::string& note : use.notes)
    notes += concat(log_prefix(LogLevel::info), printable(note), "\n");
  return notes;
}

void add_diagnostics(std::vector<GraphDiagnostic>& all, const Diagnostics& found,
                     const SourceText& source) {
  for (const Diagnostic* diagnostic : found.sorted()) {
    const ShownPlace at = shown_place(source, *diagnostic);
    GraphDiagnostic& shown = all.emplace_back();
    shown.is_error = diagnostic->severity == Severity::error;
    shown.file = printable(at.file);
    shown.line = at.line;
    shown.column = at.column;
    if (at.line > 0) shown.source = printable(source.line(diagnostic->span.mark));
    shown.message = printable(diagnostic->message);
    for (const std::string& line : diagnostic->help)
      shown.help += concat(shown.help.empty() ? "" : "\n", printable(line));
  }
}

}  // namespace

PlannedGraph plan_files(const GraphFiles& files, const StageTypes& types) {
  PlannedGraph result;
  result.loaded = load_files(files, types);
  result.messages = result.loaded.messages();
  if (!result.loaded.graph) return result;
  result.limits = probe_machine();
  ValidGraph graph = *result.loaded.graph;
  const StageTypes all_types = types_of(types, graph);  // plans and their graphs point into it
  PlanResult planned = plan_graph(graph, result.limits);
  if (has_cache(graph)) count(graph, result.limits, all_types, planned);
  if (planned.ok())
    result.messages += use_files_of_caches(graph, all_types, files.count, result, planned);
  for (const PlanProblem& problem : planned.problems) {
    const std::string about =
        problem.stage.empty() ? "" : concat("stage \"", problem.stage, "\": ");
    result.problems.error({problem.mark}, about + problem.message, {problem.help});
  }
  result.messages += result.problems.render(result.loaded.source);
  if (planned.ok()) result.plan = std::move(planned.plan);
  return result;
}

std::vector<GraphDiagnostic> diagnostics_of(const PlannedGraph& planned) {
  std::vector<GraphDiagnostic> all;
  add_diagnostics(all, planned.loaded.diagnostics, planned.loaded.source);
  add_diagnostics(all, planned.problems, planned.loaded.source);
  if (planned.plan)
    for (const std::string& warning : planned.plan->warnings) all.push_back({.message = warning});
  return all;
}

Error mistakes_of(const PlannedGraph& planned, std::vector<GraphDiagnostic>* found) {
  if (found != nullptr) *found = diagnostics_of(planned);
  return Error{std::string(trim(planned.messages))};
}

}  // namespace brigade
