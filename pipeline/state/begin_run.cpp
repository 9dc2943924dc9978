#include "pipeline/state/begin_run.h"

#include <sys/random.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>

#include <brigade/check.h>
#include <brigade/text.h>
#include "base/atomic_file.h"
#include "pipeline/plan/cache_key.h"
#include "pipeline/plan/libraries.h"
#include "pipeline/plan/order_fingerprint.h"
#include "pipeline/state/cache_reuse.h"
#include "pipeline/state/checkpoint_files.h"
#include "pipeline/state/read_position.h"
#include "pipeline/state/resume_numbers.h"
#include "pipeline/state/run_state.h"
#include "stages/api/npy_trailer.h"
#include "transports/audit.h"

namespace brigade {
namespace {

std::string place_text(const Plan& plan, const ByStage<Position>& positions) {
  std::vector<std::string> places;
  for (const StageNumber s : positions.numbers()) {
    if (positions[s].queues.empty()) continue;
    const SamplePosition& at = positions[s].queues.front();
    if (at.epoch >= plan.epochs) {
      places.push_back(concat(plan.stages[s].name, " has consumed all epochs"));
      continue;
    }
    places.push_back(concat(plan.stages[s].name, " at sample ", format_count(at.index),
                            " of epoch ", at.epoch + 1));
  }
  return join(places, ", ");
}

Result<void> check_order(const PlanStage& stage, const std::string& before,
                         const std::string& now) {
  if (before == now) return {};
  return Error{concat(
      "cannot resume from ", stage.position_file, ": the samples or their order would differ: ",
      contents_difference(before, now), "; undo that change, or run without --resume")};
}

/// What a run that goes on there says of it.
std::string resumed_text(const Plan& plan, const ByStage<Position>& positions,
                         std::string_view where) {
  std::string line = concat(where, ": ", place_text(plan, positions));
  const std::vector<std::string> forget = stages_that_forget(plan);
  if (!forget.empty())
    line += concat("; ", join(forget, ", "), " cannot save ",
                   forget.size() == 1 ? "its state and starts from scratch"
                                      : "their state and start from scratch");
  return line;
}

std::string new_identity() {
  std::string digits;
  while (digits.size() < kIdentityDigits) {
    unsigned char byte = 0;
    BRIGADE_CHECK(getrandom(&byte, 1, 0) == 1, "the kernel gives no random numbers");
    for (const int nibble : {byte >> 4, byte & 15}) digits += "0123456789abcdef"[nibble];
  }
  return digits;
}

/// Only checkpoints name their run in each position.
Result<void> check_one_run(const Plan& plan, const ByStage<Position>& positions) {
  std::optional<StageNumber> first;
  for (const StageNumber s : positions.numbers()) {
    if (positions[s].queues.empty()) continue;
    if (!first) first = s;
    if (positions[s].identity != positions[*first].identity)
      return Error{concat(
          plan.stages[*first].position_file, " and ", plan.stages[s].position_file,
          " belong to different runs; restore the files of one run, or restart with --overwrite")};
  }
  return {};
}

/// Positions of one run.
Result<Resumed> resume_from(const Plan& plan, ResumePoint fresh, const ByStage<Position>& positions,
                            std::string_view where) {
  std::string identity, warning;
  for (const StageNumber s : positions.numbers()) {
    if (identity.empty()) identity = positions[s].identity;
    const std::string other = libraries_difference(positions[s].libraries, fresh.libraries);
    if (warning.empty() && !other.empty())
      warning = concat("the resumed run had different library versions (", other,
                       "): decoded pixels may differ by a few levels");
  }
  fresh.identity = std::move(identity);
  BRIGADE_ASSIGN(ResumePoint from, resume_numbers(plan, std::move(fresh), positions));
  return Resumed{std::move(from), resumed_text(plan, positions, where), std::move(warning)};
}

bool has_application(const Plan& plan) {
  return std::any_of(plan.stages.begin(), plan.stages.end(),
                     [](const PlanStage& stage) { return stage.is_output(); });
}

Result<ByStage<Position>> positions_of(const Plan& plan, RunState state) {
  ByStage<Position> positions(plan.stages.size());
  for (auto& [name, position] : state.consumers) {
    const auto stage =
        std::find_if(plan.stages.begin(), plan.stages.end(), [&name = name](const PlanStage& one) {
          return one.name == name && one.kind == StageKind::consumer;
        });
    if (stage == plan.stages.end())
      return Error{concat("it has a position for the consumer ", quote(name),
                          ", which the graph does not have")};
    positions[plan.stages.number_of(*stage)] = std::move(position);
  }
  return positions;
}

bool has_consumed(const Plan& plan, const ResumePoint& resume, const Control<SystemPolicy>& control,
                  StageNumber stage) {
  const PlanStage& consumer = plan.stages[stage];
  if (consumer.kind != StageKind::consumer) return false;
  for (const QueueNumber queue : consumer.queues.numbers()) {
    const IndexSpaceNumber index_space = consumer.queues[queue].index_space;
    if (queue_level(control, stage, queue) > resume.index_space(index_space).start) return true;
  }
  return false;
}

/// In this run.
bool anybody_has_consumed(const Plan& plan, const ResumePoint& resume,
                          const Control<SystemPolicy>& control) {
  for (const StageNumber s : plan.stages.numbers())
    if (has_consumed(plan, resume, control, s)) return true;
  return false;
}

/// A file, with something in it, that a consumer which learns would write anew; empty: none.
std::string past_results(const PlanStage& stage, const StageTypes& types) {
  const StageType* const type = types.find(stage.type);
  if (type == nullptr || !type->contract.saves) return "";
  for (const auto& [name, value] : stage.params) {
    const ParamSpec* const spec = type->contract.find_param(name);
    std::error_code unknown;
    if (spec == nullptr || spec->type != ParamType::output_path || value.text.empty() ||
        !std::filesystem::is_regular_file(value.text, unknown) ||
        std::filesystem::file_size(value.text, unknown) == 0)
      continue;
    return concat("results of another run exist (", value.text,
                  ") and are not overwritten; restart with --overwrite, or choose another file: "
                  "--set stages.",
                  stage.name, ".params.", name, "=FILE");
  }
  return "";
}

Result<void> refuse_past(const Plan& plan, const StageTypes& types) {
  for (const PlanStage& stage : plan.stages) {
    for (const std::string& file : {stage.saved_file, stage.position_file}) {
      std::error_code unknown;
      if (file.empty() || !std::filesystem::exists(file, unknown)) continue;
      return Error{concat("a checkpoint of another run exists (", file,
                          ") and is not overwritten; resume it with --resume, restart with "
                          "--overwrite, or choose another file: --set checkpoint.file=FILE")};
    }
    if (std::string there = past_results(stage, types); !there.empty())
      return Error{std::move(there)};
  }
  return {};
}

}  // namespace

ResumePoint from_the_beginning(const Plan& plan, const StageTypes& types) {
  ResumePoint fresh;
  fresh.identity = new_identity();
  if (plan.checkpoint_file.empty() && !has_application(plan)) return fresh;
  const auto now = std::chrono::system_clock::now().time_since_epoch().count();
  if (!plan.checkpoint_file.empty()) fresh.run_id = concat(getpid(), "-", now);
  fresh.libraries = libraries_of(packages_of(plan, types, build_facts().packages));
  fresh.order = order_fingerprint(
      plan, types, [&](const Plan& of, StageNumber stage) { return cache_key(of, stage, types); });
  return fresh;
}

Result<Resumed> resume_from_files(const Plan& plan, ResumePoint fresh) {
  if (plan.checkpoint_file.empty())
    return Error{
        "--resume needs a checkpoint: write `checkpoint: {file: PATH}` at the top level of the "
        "graph, and run it once without --resume"};
  if (const auto resumable = check_resumable(plan); !resumable)
    return Error{concat(resumable.error().message, "; run without --resume")};
  ByStage<Position> positions(plan.stages.size());
  bool any = false;
  for (const StageNumber s : plan.stages.numbers()) {
    const PlanStage& stage = plan.stages[s];
    if (stage.position_file.empty()) continue;
    BRIGADE_ASSIGN(PositionFile file, read_checkpoint(stage.saved_file, stage.position_file));
    if (file.entries.empty()) continue;
    BRIGADE_TRY(check_order(stage, file.order, fresh.order));
    positions[s] = std::move(file.entries.front());
    any = true;
  }
  if (!any)
    return Resumed{std::move(fresh),
                   concat("there is no checkpoint at ", plan.checkpoint_file,
                          " yet: the run starts from the beginning"),
                   ""};
  BRIGADE_TRY(check_one_run(plan, positions));
  auto resumed =
      resume_from(plan, std::move(fresh), positions, concat("resumes from ", plan.checkpoint_file));
  if (!resumed.ok()) return resumed.error().within(plan.checkpoint_file);
  return resumed;
}

Result<Resumed> resume_from_state(const Plan& plan, ResumePoint fresh, std::string_view bytes) {
  const auto refused = [](const Error& why) {
    return Error{concat("cannot resume from the given state: ", why.message,
                        "; pass a state of this graph, or start without one")};
  };
  auto state = state_from_bytes(bytes);
  if (!state) return refused(state.error());
  const std::string now = order_in_detail(fresh.order, state->detail);
  if (state->order != now)
    return refused(Error{concat("the samples or their order would differ: ",
                                contents_difference(state->order, now))});
  if (const auto resumable = check_resumable(plan); !resumable) return refused(resumable.error());
  const auto positions = positions_of(plan, std::move(*state));
  if (!positions) return refused(positions.error());
  auto resumed = resume_from(plan, std::move(fresh), *positions, "resumes from the given state");
  if (!resumed) return refused(resumed.error());
  return resumed;
}

Result<RunBegin> begin_run(const Plan& plan, const StageTypes& types, Past past,
                           const std::optional<std::string>& state) {
  if (state && (past == Past::resume || !plan.checkpoint_file.empty()))
    return Error{
        "a state and a checkpoint both set the start of the run: omit Pipeline::state(), or "
        "Pipeline::resume() and `checkpoint:`"};
  RunBegin begin{{from_the_beginning(plan, types), "", ""}, {}};
  if (!plan.checkpoint_file.empty()) {
    BRIGADE_TRY(check_writable(plan.checkpoint_file));
    BRIGADE_ASSIGN(std::optional<PathLock> lock, PathLock::try_now(plan.checkpoint_file));
    if (!lock)
      return Error{
          concat("another run is writing the checkpoint ", plan.checkpoint_file,
                 "; wait until it ends, or choose another file: --set checkpoint.file=FILE")};
    begin.lock.emplace(std::move(*lock));
  }
  if (state) {
    BRIGADE_ASSIGN(begin.resumed, resume_from_state(plan, std::move(begin.resumed.from), *state));
  }
  if (past == Past::resume) {
    BRIGADE_ASSIGN(begin.resumed, resume_from_files(plan, std::move(begin.resumed.from)));
  }
  if (past == Past::refuse) BRIGADE_TRY(refuse_past(plan, types));
  return begin;
}

Result<ResumePoint> resume_after_death(const Plan& plan, const ResumePoint& before,
                                       const Control<SystemPolicy>& control) {
  ByStage<Position> positions(plan.stages.size());
  for (const StageNumber s : plan.stages.numbers()) {
    const PlanStage& stage = plan.stages[s];
    if (stage.kind != StageKind::consumer) continue;
    Position now = read_position(plan, before, control, s);
    Position& position = positions[s];
    position = now;
    if (!stage.saves) continue;
    BRIGADE_ASSIGN(const PositionFile file, read_checkpoint(stage.saved_file, stage.position_file));
    const bool saved = !file.entries.empty() && file.entries.front().run == before.run_id;
    // A checkpoint of another command counts only if this one has begun with it.
    if (saved || (before.stage(s).restored && !file.entries.empty())) {
      position = file.entries.front();
    } else {
      position = {};
    }
    position.sources = now.sources;
    position.quarantined = now.quarantined;
    position.skipped.insert(position.skipped.end(), now.skipped.begin(), now.skipped.end());
  }
  return resume_numbers(
      plan, {before.run_id, before.order, {}, {}, before.identity, before.libraries}, positions);
}

Result<void> write_positions(const Plan& plan, const ResumePoint& resume,
                             const Control<SystemPolicy>& control) {
  // Older ones stay, but never beside newer ones of other consumers.
  if (!check_resumable(plan).ok() || !anybody_has_consumed(plan, resume, control)) return {};
  for (const StageNumber s : plan.stages.numbers()) {
    const PlanStage& stage = plan.stages[s];
    if (stage.position_file.empty() || stage.saves) continue;
    BRIGADE_TRY(
        write_checkpoint("", "", stage.position_file,
                         {stage.name, resume.order, {read_position(plan, resume, control, s)}}));
  }
  return {};
}

}  // namespace brigade
