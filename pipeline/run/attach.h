#pragma once

// Finds and inspects graphs that run on this machine from another process, through
// the control segment and the plan that their supervisors hold open. Changes nothing.
// Needs the right to inspect those processes: the same user's, or root. They may be
// hostile: unexpected memory is rejected before it is mapped (open_foreign_memory()).

#include <sys/types.h>

#include <map>
#include <memory>
#include <string>
#include <vector>

#include <brigade/result.h>
#include "pipeline/memory/shared_segments.h"

namespace brigade {

struct RunningGraph {
  pid_t pid = 0;        ///< of its supervisor
  std::string control;  ///< a path that opens its control segment
  std::string plan;     ///< and one that opens its plan
};

/// What runs on this machine, in the order of pids.
struct FoundGraphs {
  std::vector<RunningGraph> running;
  /// Programs called brigade that are other users': what they run, only those users see, and root.
  std::vector<pid_t> closed;
};
FoundGraphs find_graphs();

/// Whether this user may look for what a process runs. One that has ended hides nothing.
bool is_closed(pid_t pid);

/// The workers of this supervisor: their names ("decode.1"; of programs of their own what the
/// kernel calls them: the first 15 characters) and pids; 0: two are called so. Without those that
/// are just being started, and empty where the kernel does not list a process's children.
std::map<std::string, pid_t> find_workers(pid_t supervisor);
/// Of these the one of that name; 0: it is not known.
pid_t pid_of_worker(const std::map<std::string, pid_t>& workers, const std::string& name);

/// Whether it has let go of its memory since it was found.
bool has_ended(const RunningGraph& graph);

/// Errors: it has just ended, may not be looked at, runs another version of Brigade, or only looks
/// like a graph.
Result<std::unique_ptr<AttachedSegments>> look_into(const RunningGraph& graph);

}  // namespace brigade
