#include "pipeline/process/commands/load.h"

#include "pipeline/plan/planner.h"
#include "pipeline/process/commands/print.h"
#include "pipeline/process/file_facts.h"
#include "pipeline/process/machine_probe.h"

namespace brigade {

LoadedGraph load_arguments(const GraphArguments& arguments, const StageTypes& types) {
  FileFacts facts;
  LoadedGraph loaded = load_graph({.files = arguments.files,
                                   .sets = arguments.sets,
                                   .limit = arguments.limit,
                                   .types = types,
                                   .facts = facts,
                                   .environment = process_environment(),
                                   .working_directory = process_working_directory()});
  print_error(loaded.messages());
  return loaded;
}

std::optional<LoadedPlan> plan_arguments(const GraphArguments& arguments, const StageTypes& types) {
  LoadedPlan result{load_arguments(arguments, types), probe_machine(), {}};
  if (!result.loaded.graph) return std::nullopt;
  PlanResult planned = plan_graph(*result.loaded.graph, result.limits);
  Diagnostics problems;
  for (const PlanProblem& problem : planned.problems) {
    const std::string subject = problem.stage.empty() ? "" : "stage \"" + problem.stage + "\": ";
    problems.error({problem.mark}, subject + problem.message, {problem.help});
  }
  print_error(problems.render(result.loaded.source));
  if (!planned.ok()) return std::nullopt;
  result.plan = std::move(planned.plan);
  return result;
}

}  // namespace brigade
