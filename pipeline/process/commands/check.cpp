#include "base/log.h"
#include "base/text.h"
#include "pipeline/process/commands/commands.h"
#include "pipeline/process/commands/load.h"
#include "pipeline/process/commands/print.h"

namespace brigade {

int check_command(const CheckArguments& arguments, const StageTypes& types) {
  const PlannedGraph planned = plan_and_show(arguments.graph, types);
  if (!planned.plan) return 2;
  for (const std::string& warning : planned.plan->warnings) {
    log_warning(warning);
  }
  const std::size_t stages = planned.plan->stages.size();
  print_line(concat(join(arguments.graph.files, " + "), ": ok: ", stages,
                    stages == 1 ? " stage, " : " stages, ", planned.plan->replicas,
                    planned.plan->replicas == 1 ? " process" : " processes"));
  return 0;
}

}  // namespace brigade
