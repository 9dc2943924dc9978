#include "pipeline/config/effective_yaml.h"
#include "pipeline/plan/plan_json.h"
#include "pipeline/plan/plan_printer.h"
#include "pipeline/process/commands/commands.h"
#include "pipeline/process/commands/load.h"
#include "pipeline/process/commands/print.h"

namespace brigade {

namespace {

/// With the replicas that the plan has chosen.
ValidGraph as_planned(ValidGraph graph, const Plan& plan) {
  for (ValidStage& stage : graph.stages)
    for (const PlanStage& planned : plan.stages)
      if (planned.name == stage.name) stage.replicas = static_cast<std::uint64_t>(planned.replicas);
  return graph;
}

}  // namespace

int plan_command(const PlanArguments& arguments, const StageTypes& types) {
  const PlannedGraph planned = plan_and_show(arguments.graph, types);
  if (!planned.plan) return 2;
  const ValidGraph& graph = *planned.loaded.graph;
  if (arguments.json) {
    print(plan_to_json(*planned.plan) + "\n");
  } else if (arguments.yaml) {
    print(effective_yaml(as_planned(graph, *planned.plan)));
  } else {
    print(print_plan(*planned.plan, planned.limits,
                     memory_room(planned.limits, graph.memory_bytes_max)));
  }
  return 0;
}

}  // namespace brigade
