#include <string>
#include <vector>

#include "pipeline/api/version.h"
#include "pipeline/cli/commands/commands.h"
#include "pipeline/cli/commands/load.h"
#include "pipeline/cli/commands/print.h"
#include "pipeline/cli/draw/plan_printer.h"
#include "pipeline/config/graph/effective_yaml.h"
#include "pipeline/plan/libraries.h"
#include "pipeline/report/plan_report.h"
#include "pipeline/worker/plugin_loader.h"

namespace brigade {

namespace {

constexpr const char* kPlanExamples = R"(Examples:
  brigade plan train.yaml            processes, task sizes, every ring as a sum, memory
  brigade plan train.yaml --json     the same for programs
  brigade plan train.yaml --yaml     the graph with every default filled in)";

struct PlanArguments {
  GraphFiles graph;
  bool json = false;
  bool yaml = false;
};

void declare(Options& options, PlanArguments& arguments) {
  options.graph(arguments.graph);
  options.outputs(arguments.graph);
  options.flag("--json", arguments.json, "as JSON");
  options.flag("--yaml", arguments.yaml, "the graph with every default filled in");
  options.excludes("--yaml", "--json");
}

/// With the replicas that the plan has chosen.
ValidGraph as_planned(ValidGraph graph, const Plan& plan) {
  for (ValidStage& stage : graph.stages)
    for (const PlanStage& planned : plan.stages)
      if (planned.name == stage.name) stage.replicas = static_cast<std::uint64_t>(planned.replicas);
  return graph;
}

/// Asks the driver, which takes a tenth of a second, only for a graph that may use it.
GpuReport gpus_for(const Plan& plan) {
  for (const PlanStage& stage : plan.stages)
    if (stage.device == "auto" || stage.device.starts_with("cuda")) return report_gpus();
  return {};
}

int show_plan(const PlanArguments& arguments, const StageTypes& types, std::int64_t) {
  GraphFiles files = arguments.graph;
  files.count = true;
  const PlannedGraph planned = plan_and_show(files, types);
  if (!planned.plan) return 2;
  const ValidGraph& graph = *planned.loaded.graph;
  const std::vector<PackageFacts> packages =
      packages_of(*planned.plan, types_of(types, graph), build_facts().packages);
  if (arguments.json) {
    print(plan_report(*planned.plan, planned.sources, planned.consumers, planned.loaded.ranks,
                      packages) +
          "\n");
  } else if (arguments.yaml) {
    print(effective_yaml(as_planned(graph, *planned.plan)));
  } else {
    print(print_plan(*planned.plan, planned.limits,
                     memory_room(planned.limits, graph.memory_bytes_max), planned.sources,
                     planned.consumers, gpus_for(*planned.plan)) +
          libraries_text(packages));
  }
  return 0;
}

}  // namespace

Command plan_command() {
  return make_command<PlanArguments>("plan", "show what will run and what it needs", kPlanExamples,
                                     declare, show_plan);
}

}  // namespace brigade
