#pragma once

// From where a run goes on: the positions that its consumers' checkpoints have. For
// `brigade run --resume`, and for the supervisor when a consumer that saves has died.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/path_lock.h"
#include "base/result.h"
#include "pipeline/plan/plan.h"
#include "stages/api/stage_types.h"
#include "transports/layout.h"

namespace brigade {

/// Gives the plan what its checkpoints need: the id of this command and the text of what defines
/// the order. `types`: all that it names.
void prepare_checkpoints(Plan& plan, const StageTypes& types);

/// Makes the plan, prepared, go on from the files of its checkpoint. Returns a line for the user:
/// from where. Errors, each one line that says what to do: no `checkpoint:` in the graph, files
/// that do not belong together, another order than that of the checkpoint, a graph that cannot go
/// on.
Result<std::string> resume_from_files(Plan& plan);

/// What a run does with a checkpoint of its name that is there already.
enum class Past : std::uint8_t { refuse, resume, overwrite };

struct RunBegin {
  std::string line;              ///< for the user; empty: nothing to say
  std::optional<PathLock> lock;  ///< on the checkpoint: held until the run has ended
};

/// Prepares the plan of a run, with `checkpoint:` or without. Errors: a checkpoint that another run
/// writes, one whose folder is not writable; those of resume_from_files(); with Past::refuse a file
/// of the checkpoint that is there, which this run would replace.
Result<RunBegin> begin_run(Plan& plan, const StageTypes& types, Past past);

/// `before`: a plan whose run has ended because a consumer that saves died, all its replicas reaped
/// and repaired; `control`: its words. Makes `plan`, the same without a past, go on from there:
/// consumers that save from their checkpoints, the others from where they are.
Result<void> resume_after_death(Plan& plan, const Plan& before,
                                const Control<SystemPolicy>& control);

/// Writes the positions of the consumers that save nothing. Error: of the first that cannot be
/// written.
Result<void> write_positions(const Plan& plan, const Control<SystemPolicy>& control);

}  // namespace brigade
