#pragma once

// `brigade leases` for the graphs that were found. A graph that has ended since is not an error.

#include <vector>

#include "pipeline/run/attach.h"

namespace brigade {

/// Prints who holds what in each of the graphs, or in that of process `pid` alone (0: all). Gives
/// the exit code: 1 where one of them cannot be looked into, and where `pid` runs none.
int show_leases(const std::vector<RunningGraph>& graphs, pid_t pid);

}  // namespace brigade
