#include <algorithm>

#include <brigade/text.h>
#include "base/log.h"
#include "pipeline/cli/commands/commands.h"
#include "pipeline/cli/commands/load.h"
#include "pipeline/cli/commands/print.h"
#include "pipeline/cli/draw/plan_printer.h"
#include "pipeline/config/language/program_reads.h"
#include "pipeline/plan/subset.h"
#include "pipeline/worker/module_loader.h"
#include "stages/detail/fused_stage.h"
#include "stages/image/guess/data_archive.h"

namespace brigade {
namespace {

constexpr const char* kCheckExamples = R"(Examples:
  brigade check train.yaml
  brigade check base.yaml machine.yaml --set stages.augment.replicas=4
  brigade check train.yaml --output augment    as brigade.Loader(..., output="augment") reads it

Prints every mistake with file:line:column, the line and the fix. Reads only headers and the first
members of archives, no other data. If a graph has no consumer, a program reads its last stages.
Exit codes: 0 no mistakes, 2 mistakes.)";

void declare(Options& options, GraphFiles& graph) {
  options.graph(graph);
  options.outputs(graph);
}

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

/// The consumers that stand for a program, where the graph is cut to what one reads.
std::size_t added_outputs(const PlannedGraph& planned) {
  const auto& read = planned.loaded.read;
  const auto is_added = [&](const PlanStage& stage) {
    return std::any_of(read.begin(), read.end(), [&](const std::string& name) {
      return stage.is_output() && stage.name == output_of(name);
    });
  };
  const auto& stages = planned.plan->stages;
  return static_cast<std::size_t>(std::count_if(stages.begin(), stages.end(), is_added));
}

/// `brigade run` refuses such a graph.
std::string what_a_program_reads(const PlannedGraph& planned) {
  std::vector<std::string> names = planned.loaded.read;
  if (names.empty())
    for (const PlanStage& stage : planned.plan->stages)
      if (stage.is_output()) names.push_back(stage.name);
  for (std::string& name : names) name = quote(name);
  return names.empty() ? "" : concat("; a program reads ", join(names, ", ", " and "));
}

int check(const GraphFiles& graph, const StageTypes& types, std::int64_t) {
  const PlannedGraph planned = plan_and_show(graph, types);
  if (!planned.plan) return 2;
  for (const std::string& warning : planned.plan->warnings) {
    log_warning(warning);
  }
  const bool readable = archives_are_readable(planned);
  if (!modules_are_there(*planned.loaded.graph, *planned.plan) || !readable) return 2;
  const std::size_t stages = planned.plan->stages.size() - added_outputs(planned);
  print_line(concat(join(graph.files, " + "), ": ok: ", stages,
                    stages == 1 ? " stage, " : " stages, ", processes_text(*planned.plan),
                    what_a_program_reads(planned)));
  return 0;
}

}  // namespace

Command check_command() {
  return make_command<GraphFiles>("check", "find every mistake; run nothing", kCheckExamples,
                                  declare, check);
}

}  // namespace brigade
