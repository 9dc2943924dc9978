#pragma once

// Finds running graphs with more busy threads than cores: a library that starts its
// own thread team in each of many workers (the classic slowdown of multi-process
// programs). `brigade doctor` reports it. Reads /proc several times with pauses.

#include <map>
#include <string>
#include <vector>

#include <brigade/result.h>
#include "pipeline/cli/help/machine_report.h"

namespace brigade {

/// Of a graph, how many threads of each worker ("train.0") have run or waited for a core, on
/// average over some looks.
struct BusyGraph {
  std::string name;
  std::map<std::string, double> threads;
};

/// Of every graph on this machine that may be looked at; takes 0.2 s where there are some.
std::vector<BusyGraph> look_at_running_graphs();

/// A finding for each that wants more than `cores`, by more than a half. Pure.
std::vector<Finding> crowded(const std::vector<BusyGraph>& graphs, std::uint64_t cores);

}  // namespace brigade
