#include "pipeline/process/graph_files.h"

#include "base/log.h"
#include "base/printable.h"
#include "base/text.h"
#include "pipeline/plan/planner.h"
#include "pipeline/process/file_facts.h"
#include "pipeline/process/kept_files.h"
#include "pipeline/process/machine_probe.h"
#include "pipeline/process/plugin_loader.h"

namespace brigade {

LoadedGraph load_files(const GraphFiles& files, const StageTypes& types) {
  FileFacts facts;
  PluginFiles plugins;
  return load_graph({.files = files.files,
                     .sets = files.sets,
                     .limit = files.limit,
                     .types = types,
                     .facts = facts,
                     .environment = process_environment(),
                     .working_directory = process_working_directory(),
                     .plugins = &plugins});
}

namespace {

/// Plans again without what the files of caches make needless. Returns what there is to note.
std::string use_files_of_caches(const PlannedGraph& graph, const StageTypes& types,
                                PlanResult& planned) {
  const ValidGraph& loaded = *graph.loaded.graph;
  const StageTypes all_types = types_of(types, loaded);  // use.graph points into it
  KeptUse use = use_kept_files(loaded, planned.plan, all_types);
  if (use.any && use.problems.empty()) planned = plan_graph(use.graph, graph.limits);
  planned.problems.insert(planned.problems.end(), use.problems.begin(), use.problems.end());
  for (std::string& warning : use.warnings) planned.plan.warnings.push_back(std::move(warning));
  std::string notes;
  for (const std::string& note : use.notes)
    notes += concat(log_prefix(LogLevel::info), printable(note), "\n");
  return notes;
}

}  // namespace

PlannedGraph plan_files(const GraphFiles& files, const StageTypes& types) {
  PlannedGraph result;
  result.loaded = load_files(files, types);
  result.messages = result.loaded.messages();
  if (!result.loaded.graph) return result;
  result.limits = probe_machine();
  PlanResult planned = plan_graph(*result.loaded.graph, result.limits);
  if (planned.ok()) result.messages += use_files_of_caches(result, types, planned);
  Diagnostics problems;
  for (const PlanProblem& problem : planned.problems) {
    const std::string about =
        problem.stage.empty() ? "" : concat("stage \"", problem.stage, "\": ");
    problems.error({problem.mark}, about + problem.message, {problem.help});
  }
  result.messages += problems.render(result.loaded.source);
  if (planned.ok()) result.plan = std::move(planned.plan);
  return result;
}

}  // namespace brigade
