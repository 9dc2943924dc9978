#pragma once

// Where a run begins: at the beginning, at the positions of its consumers' checkpoints or of
// a program's state, or, after a saving consumer's death, at those and the others' positions.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <brigade/result.h>
#include <brigade/stage_types.h>
#include "base/path_lock.h"
#include "pipeline/plan/resume_point.h"
#include "transports/layout.h"

namespace brigade {

/// What a run does with a checkpoint of its name that is there already.
enum class Past : std::uint8_t { refuse, resume, overwrite };

/// Where a run goes on, or that it begins at the beginning.
struct Resumed {
  ResumePoint from;
  std::string line;     ///< for the user; empty: nothing to say
  std::string warning;  ///< likewise: samples may differ from those before
};

struct RunBegin {
  Resumed resumed;
  std::optional<PathLock> lock;  ///< on the checkpoint: held until the run has ended
};

/// Of a run without a past: what defines the order where somebody keeps a position, and with
/// `checkpoint:` the id of this command. `types`: all that the plan names.
ResumePoint from_the_beginning(const Plan& plan, const StageTypes& types);

/// Resumes from the files of the plan's checkpoint; the line says from where. Errors, each one line
/// that says what to do: no `checkpoint:` in the graph, files that do not belong together, another
/// order than that of the checkpoint, a graph that cannot go on.
Result<Resumed> resume_from_files(const Plan& plan, ResumePoint fresh);

/// Goes on where the run stood that gave this state (Run::state()); the line says where. Errors,
/// each one line that says what to do: bytes that are no state, one of a graph that has other
/// samples or another order, a graph that cannot go on.
Result<Resumed> resume_from_state(const Plan& plan, ResumePoint fresh, std::string_view state);

/// Of a run with `checkpoint:`, a state, or none. Errors: a checkpoint that another run writes, one
/// whose folder is not writable; those of resume_from_files() and resume_from_state(); both at
/// once; with Past::refuse a file of the checkpoint that is there, which this run would replace.
Result<RunBegin> begin_run(const Plan& plan, const StageTypes& types, Past past,
                           const std::optional<std::string>& state = {});

/// For a run that has ended because a consumer that saves died, all its replicas reaped and
/// repaired; `before`: where that run began; `control`: its words. Consumers that save resume from
/// their checkpoints, the others from where they are.
Result<ResumePoint> resume_after_death(const Plan& plan, const ResumePoint& before,
                                       const Control<SystemPolicy>& control);

/// Writes the positions of the consumers that save nothing, of a run that began at `resume`; not
/// before somebody has consumed something in it. Any thread.
Result<void> write_positions(const Plan& plan, const ResumePoint& resume,
                             const Control<SystemPolicy>& control);

}  // namespace brigade
