#include "pipeline/config/effective_yaml.h"
#include "pipeline/plan/plan_json.h"
#include "pipeline/plan/plan_printer.h"
#include "pipeline/process/commands/commands.h"
#include "pipeline/process/commands/load.h"
#include "pipeline/process/commands/print.h"

namespace brigade {

int plan_command(const PlanArguments& arguments, const StageTypes& types) {
  const auto loaded = plan_arguments(arguments.graph, types);
  if (!loaded) return 2;
  const ValidGraph& graph = *loaded->loaded.graph;
  if (arguments.json) {
    print(plan_to_json(loaded->plan) + "\n");
  } else if (arguments.yaml) {
    print(effective_yaml(graph));
  } else {
    print(print_plan(loaded->plan, loaded->limits,
                     memory_room(loaded->limits, graph.memory_bytes_max)));
  }
  return 0;
}

}  // namespace brigade
