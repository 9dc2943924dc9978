#pragma once

// The only way from a planned graph to a run, shared by `brigade run` and Pipeline::start().
//
//   plan_files -> start_run -> wait

#include <memory>
#include <optional>
#include <string>

#include "pipeline/api/load_and_plan.h"
#include "pipeline/run/run_session.h"
#include "pipeline/state/begin_run.h"

namespace brigade {

/// A run, which ends when it is destroyed; or why there is none.
struct StartedRun {
  std::optional<PathLock> lock = {};  ///< on its checkpoint
  std::unique_ptr<RunSession> session = {};
  std::string failure = {};  ///< without a session: one line
  bool refused = false;      ///< then: a run that is wrong to ask for, not one that failed
  bool interrupted = false;  ///< then: RunOptions::interrupted has said so
};

/// Decides where the run resumes from, and starts it. `planned` has a plan. `program`: its stage
/// types without those of plugins. `lines` outlive the run; they are told of the plan's warnings
/// and of where the run resumes from. `state`: Run::state() of the run that it goes on from.
StartedRun start_run(const PlannedGraph& planned, const StageTypes& program, Past past,
                     RunOutput& lines, const RunOptions& options,
                     const std::optional<std::string>& state = {});

}  // namespace brigade
