#include <algorithm>

#include <brigade/text.h>
#include "base/log.h"
#include "pipeline/cli/commands/commands.h"
#include "pipeline/cli/commands/load.h"
#include "pipeline/cli/commands/print.h"
#include "pipeline/cli/draw/plan_printer.h"
#include "pipeline/host/module_loader.h"
#include "stages/detail/fused_stage.h"

namespace brigade {
namespace {

constexpr const char* kCheckExamples = R"(Examples:
  brigade check train.yaml
  brigade check base.yaml machine.yaml --set stages.augment.replicas=4

Each mistake is shown with file:line:column, the line and the fix; all of them in one go. No data is
read but headers. Exit codes: 0 nothing is wrong, 2 something is.)";

void declare(Options& options, GraphFiles& graph) { options.graph(graph); }

/// Only here: a program may read what is above a stage whose module it lacks. Stages above a cache
/// that is full already are not in the plan.
bool modules_are_there(const ValidGraph& graph, const Plan& plan) {
  bool all = true;
  for (const ValidStage& stage : graph.stages) {
    const bool is_planned = std::any_of(plan.stages.begin(), plan.stages.end(),
                                        [&](const auto& s) { return s.name == stage.name; });
    if (!is_planned) continue;
    for (const StageType* type : parts_of(*stage.type)) {
      const auto there = check_module_file(*type);
      if (!there) log_error("stage ", quote(stage.name), ": ", there.error().message);
      all = all && there.ok();
    }
  }
  return all;
}

int check(const GraphFiles& graph, const StageTypes& types, std::int64_t) {
  const PlannedGraph planned = plan_and_show(graph, types);
  if (!planned.plan) return 2;
  for (const std::string& warning : planned.plan->warnings) {
    log_warning(warning);
  }
  if (!modules_are_there(*planned.loaded.graph, *planned.plan)) return 2;
  const std::size_t stages = planned.plan->stages.size();
  print_line(concat(join(graph.files, " + "), ": ok: ", stages,
                    stages == 1 ? " stage, " : " stages, ", processes_text(*planned.plan)));
  return 0;
}

}  // namespace

Command check_command() {
  return make_command<GraphFiles>("check", "find every mistake; run nothing", kCheckExamples,
                                  declare, check);
}

}  // namespace brigade
