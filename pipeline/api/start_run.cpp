#include "pipeline/api/start_run.h"

#include <utility>

#include <brigade/text.h>
#include "pipeline/worker/plugin_loader.h"

namespace brigade {
namespace {

Result<void> check_program(const Plan& plan, const RunOptions& options) {
  if (options.program) return {};
  for (const PlanStage& stage : plan.stages) {
    if (stage.is_input())
      return Error{concat("stage ", quote(stage.name),
                          " is fed by a program (`producer: application`): start the graph from "
                          "that program, or use another producer")};
    if (stage.is_output())
      return Error{concat("stage ", quote(stage.name),
                          " is read by a program (`consumer: application`): start the graph from "
                          "that program, or read it here with `--set stages.",
                          stage.name, ".consumer=count",
                          stage.hold == StagePlanningKeys{}.hold
                              ? ""
                              : concat(" --set stages.", stage.name, ".hold=null"),
                          stage.hold_timeout_ns == StageKeys{}.hold_timeout_ns
                              ? ""
                              : concat(" --set stages.", stage.name, ".hold_timeout=null"),
                          "`")};
  }
  return {};
}

/// Of several launchers' variables; a program tells of what it knows itself.
std::string unlike_text(const Shard& shard, const RankOrigin& ranks) {
  if (ranks.by == "program" || ranks.unlike.empty()) return "";
  return concat("rank ", shard.rank, " of ", shard.world, ", from ", ranks.by,
                "; ignored: ", join(ranks.unlike, "; "));
}

}  // namespace

StartedRun start_run(const PlannedGraph& planned, const StageTypes& program, Past past,
                     RunOutput& lines, const RunOptions& options,
                     const std::optional<std::string>& state) {
  const Plan& plan = *planned.plan;
  if (auto refused = check_program(plan, options); !refused)
    return {.failure = refused.error().message, .refused = true};
  for (const std::string& warning : plan.warnings) lines.warn(warning);
  if (const std::string ranks = unlike_text(plan.shard, planned.loaded.ranks); !ranks.empty())
    lines.note(ranks);
  StageTypes types = types_of(program, *planned.loaded.graph);
  auto begin = begin_run(plan, types, past, state);
  if (!begin) return {.failure = begin.error().message, .refused = true};
  Resumed& resumed = begin->resumed;
  if (!resumed.line.empty()) lines.note(resumed.line);
  if (!resumed.warning.empty()) lines.warn(resumed.warning);
  auto session =
      RunSession::start({plan, std::move(resumed.from)}, std::move(types), lines, options);
  if (!session)
    return {.failure = session.error().message,
            .interrupted = session.error().refusal == Refusal::interrupted};
  StartedRun started;
  if (begin->lock) started.lock.emplace(std::move(*begin->lock));
  started.session = std::move(*session);
  return started;
}

}  // namespace brigade
