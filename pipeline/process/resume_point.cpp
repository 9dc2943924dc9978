#include "pipeline/process/resume_point.h"

#include <unistd.h>

#include <chrono>
#include <filesystem>

#include "base/atomic_file.h"
#include "base/text.h"
#include "pipeline/plan/cache_contents.h"
#include "pipeline/plan/order.h"
#include "pipeline/plan/resume.h"
#include "pipeline/process/kept_files.h"
#include "pipeline/run/checkpoint_files.h"
#include "pipeline/run/position_of.h"
#include "transports/audit.h"

namespace brigade {
namespace {

std::string place_text(const Plan& plan, const std::vector<Position>& positions) {
  std::vector<std::string> places;
  for (std::size_t s = 0; s < positions.size(); ++s) {
    if (positions[s].lanes.empty()) continue;
    const LanePosition& at = positions[s].lanes.front();
    if (at.epoch >= plan.epochs) {
      places.push_back(concat(plan.stages[s].name, " has had all epochs"));
      continue;
    }
    places.push_back(concat(plan.stages[s].name, " at sample ", format_count(at.index),
                            " of epoch ", at.epoch + 1));
  }
  return join(places, ", ");
}

Result<void> check_order(const Plan& plan, const PlanStage& stage, const std::string& before) {
  if (before == plan.order) return {};
  return Error{concat(
      "cannot go on from ", stage.position_file, ": the samples or their order would be others: ",
      contents_difference(before, plan.order), "; undo that, or run without --resume")};
}

bool has_consumed(const Plan& plan, const Control<SystemPolicy>& control, int stage) {
  const PlanStage& consumer = plan.stages[static_cast<std::size_t>(stage)];
  if (consumer.kind != StageKind::consumer) return false;
  for (int lane = 0; lane < static_cast<int>(consumer.lanes.size()); ++lane) {
    const auto domain =
        static_cast<std::size_t>(consumer.lanes[static_cast<std::size_t>(lane)].domain);
    if (lane_low(control, stage, lane) > plan.domains[domain].start) return true;
  }
  return false;
}

/// In this run.
bool anybody_has_consumed(const Plan& plan, const Control<SystemPolicy>& control) {
  for (int s = 0; s < static_cast<int>(plan.stages.size()); ++s)
    if (has_consumed(plan, control, s)) return true;
  return false;
}

Result<void> refuse_past(const Plan& plan) {
  for (const PlanStage& stage : plan.stages) {
    for (const std::string& file : {stage.saved_file, stage.position_file}) {
      std::error_code unknown;
      if (file.empty() || !std::filesystem::exists(file, unknown)) continue;
      return Error{concat("the checkpoint ", plan.checkpoint_file, " of another run is there (",
                          file,
                          "), and is not replaced unasked; go on from it with --resume, begin anew "
                          "with --overwrite, or name another file: --set checkpoint.file=FILE")};
    }
  }
  return {};
}

}  // namespace

void prepare_checkpoints(Plan& plan, const StageTypes& types) {
  if (plan.checkpoint_file.empty()) return;
  const auto now = std::chrono::system_clock::now().time_since_epoch().count();
  plan.run_id = concat(getpid(), "-", now);
  plan.order = order_text(
      plan, types, [&](const Plan& of, int stage) { return kept_contents(of, stage, types); });
}

Result<std::string> resume_from_files(Plan& plan) {
  if (plan.checkpoint_file.empty())
    return Error{
        "--resume needs a place where positions are kept: write `checkpoint: {file: PATH}` at the "
        "top level of the graph, and run it once without --resume"};
  BRIGADE_TRY(check_resumable(plan));
  std::vector<Position> positions(plan.stages.size());
  bool any = false;
  for (std::size_t s = 0; s < plan.stages.size(); ++s) {
    const PlanStage& stage = plan.stages[s];
    if (stage.position_file.empty()) continue;
    BRIGADE_ASSIGN(PositionFile file, read_checkpoint(stage.saved_file, stage.position_file));
    if (file.entries.empty()) continue;
    BRIGADE_TRY(check_order(plan, stage, file.order));
    positions[s] = std::move(file.entries.front());
    any = true;
  }
  if (!any)
    return concat("there is no checkpoint at ", plan.checkpoint_file,
                  " yet: the run begins at the beginning");
  const auto resumed = resume_plan(plan, positions);
  if (!resumed.ok()) return resumed.error().within(plan.checkpoint_file);
  const std::vector<std::string> forget = stages_that_forget(plan);
  return concat("goes on from ", plan.checkpoint_file, ": ", place_text(plan, positions),
                forget.empty() ? ""
                               : concat("; ", join(forget, ", "), " cannot save what ",
                                        forget.size() == 1 ? "it keeps and begins anew"
                                                           : "they keep and begin anew"));
}

Result<RunBegin> begin_run(Plan& plan, const StageTypes& types, Past past) {
  prepare_checkpoints(plan, types);
  RunBegin begin;
  if (!plan.checkpoint_file.empty()) {
    BRIGADE_TRY(check_writable(plan.checkpoint_file));
    BRIGADE_ASSIGN(std::optional<PathLock> lock, PathLock::try_now(plan.checkpoint_file));
    if (!lock)
      return Error{concat("another run writes the checkpoint ", plan.checkpoint_file,
                          "; wait for its end, or name another file: --set checkpoint.file=FILE")};
    begin.lock.emplace(std::move(*lock));
  }
  if (past == Past::resume) {
    BRIGADE_ASSIGN(begin.line, resume_from_files(plan));
  }
  if (past == Past::refuse) BRIGADE_TRY(refuse_past(plan));
  return begin;
}

Result<void> resume_after_death(Plan& plan, const Plan& before,
                                const Control<SystemPolicy>& control) {
  std::vector<Position> positions(plan.stages.size());
  for (std::size_t s = 0; s < plan.stages.size(); ++s) {
    const PlanStage& stage = plan.stages[s];
    if (stage.kind != StageKind::consumer) continue;
    Position now = position_of(before, control, static_cast<int>(s));
    Position& position = positions[s];
    position = now;
    if (!stage.saves) continue;
    BRIGADE_ASSIGN(const PositionFile file, read_checkpoint(stage.saved_file, stage.position_file));
    const bool saved = !file.entries.empty() && file.entries.front().run == plan.run_id;
    // A checkpoint of another command counts only if this one has begun with it.
    if (saved || (before.stages[s].restored && !file.entries.empty())) {
      position = file.entries.front();
    } else {
      position = {};
    }
    position.sources = now.sources;
    position.quarantined = now.quarantined;
    position.skipped.insert(position.skipped.end(), now.skipped.begin(), now.skipped.end());
  }
  return resume_plan(plan, positions);
}

Result<void> write_positions(const Plan& plan, const Control<SystemPolicy>& control) {
  // Older ones stay, but never beside newer ones of other consumers.
  if (!check_resumable(plan).ok() || !anybody_has_consumed(plan, control)) return {};
  for (std::size_t s = 0; s < plan.stages.size(); ++s) {
    const PlanStage& stage = plan.stages[s];
    if (stage.position_file.empty() || stage.saves) continue;
    BRIGADE_TRY(write_checkpoint(
        "", "", stage.position_file,
        {stage.name, plan.order, {position_of(plan, control, static_cast<int>(s))}}));
  }
  return {};
}

}  // namespace brigade
