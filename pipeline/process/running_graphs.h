#pragma once

// Graphs that run on this machine, found and looked into from another process: by the control
// segment that their supervisors hold open. Nothing in them is changed. Needs the right to look at
// those processes: one's own, or root's.

#include <sys/types.h>

#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "pipeline/process/segments.h"

namespace brigade {

struct RunningGraph {
  pid_t pid = 0;        ///< of its supervisor
  std::string control;  ///< a path that opens its control segment
};

/// In the order of their pids.
std::vector<RunningGraph> find_running_graphs();

/// Errors: it has just ended, may not be looked at, or runs another version of Brigade.
Result<std::unique_ptr<AttachedSegments>> look_into(const RunningGraph& graph);

}  // namespace brigade
