#pragma once

// The last steps for shared tensors after a run has ended. One thread.

#include "pipeline/memory/shared_tensors.h"
#include "pipeline/report/run_output.h"
#include "pipeline/run/supervisor/supervisor.h"

namespace brigade {

/// Looks at what lies beside their parts, and saves those of a run that has not failed. What is
/// wrong is told, and the run has failed then.
RunOutcome finish_shared(const SharedTensors& shared, RunOutcome ended, RunOutput& lines);

}  // namespace brigade
