#include "pipeline/process/graph_files.h"

#include "base/text.h"
#include "pipeline/plan/planner.h"
#include "pipeline/process/file_facts.h"
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

PlannedGraph plan_files(const GraphFiles& files, const StageTypes& types) {
  PlannedGraph result;
  result.loaded = load_files(files, types);
  result.messages = result.loaded.messages();
  if (!result.loaded.graph) return result;
  result.limits = probe_machine();
  PlanResult planned = plan_graph(*result.loaded.graph, result.limits);
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
