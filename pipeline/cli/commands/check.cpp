#include <algorithm>

#include <brigade/text.h>
#include "base/log.h"
#include "pipeline/cli/commands/commands.h"
#include "pipeline/cli/commands/load.h"
#include "pipeline/cli/commands/print.h"
#include "pipeline/cli/draw/plan_printer.h"
#include "pipeline/host/module_loader.h"
#include "pipeline/plan/subset.h"
#include "stages/detail/fused_stage.h"
#include "stages/image/guess/data_archive.h"

namespace brigade {
namespace {

constexpr const char* kCheckExamples = R"(Examples:
  brigade check train.yaml
  brigade check base.yaml machine.yaml --set stages.augment.replicas=4

Each mistake is shown with file:line:column, the line and the fix; all of them in one go. No data is
read but headers and the first members of archives. Exit codes: 0 nothing is
wrong, 2 something is.)";

void declare(Options& options, GraphFiles& graph) { options.graph(graph); }

bool is_planned(const ValidStage& stage, const Plan& plan) {
  return std::any_of(plan.stages.begin(), plan.stages.end(),
                     [&](const auto& planned) { return planned.name == stage.name; });
}

/// Whether each of its samples is read, and one that cannot be read ends the run.
bool reads_all(const ValidStage& stage, const Plan& plan) {
  return !stage.on_error.skip && stage.skip == 0 && !stage.limit.any() && stage.part.empty() &&
         stage.split.shares.empty() && plan.shard.world == 1 && !is_drawn(stage);
}

void look_at_archives(const ValidStage& stage, bool all, Diagnostics& problems) {
  const auto looked = check_first_members(stage.type->contract, stage.params.get(), all);
  if (!looked)
    problems.error({stage.mark}, concat("stage ", quote(stage.name), ": ", looked.error().message));
  for (const ValidStage& part : stage.parts) look_at_archives(part, false, problems);
}

/// Only here: what a run finds itself at its start costs a look at the disk.
bool archives_are_readable(const PlannedGraph& planned) {
  Diagnostics problems;
  for (const ValidStage& stage : planned.loaded.graph->stages)
    if (stage.kind == StageKind::producer && is_planned(stage, *planned.plan))
      look_at_archives(stage, reads_all(stage, *planned.plan), problems);
  print_error(problems.render(planned.loaded.source));
  return problems.ok();
}

/// Only here: a program may read what is above a stage whose module it lacks. Stages above a cache
/// that is full already are not in the plan.
bool modules_are_there(const ValidGraph& graph, const Plan& plan) {
  bool all = true;
  for (const ValidStage& stage : graph.stages) {
    if (!is_planned(stage, plan)) continue;
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
  const bool readable = archives_are_readable(planned);
  if (!modules_are_there(*planned.loaded.graph, *planned.plan) || !readable) return 2;
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
