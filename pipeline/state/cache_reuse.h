#pragma once

// Caches whose files exist, are complete and match the current graph: the run
// reads them and does not start the upstream stages. Decided before the run.

#include <string>
#include <vector>

#include <brigade/stage_types.h>
#include "pipeline/config/graph/valid_graph.h"
#include "pipeline/plan/plan.h"
#include "pipeline/plan/plan_problem.h"

namespace brigade {

/// A graph where caches whose files are there are read from these.
struct CacheReuse {
  ValidGraph graph;
  bool any = false;                   ///< `graph` is another than the one that was given
  std::vector<std::string> notes;     ///< what is used
  std::vector<std::string> warnings;  ///< what is there and will be made anew, and why
  PlanProblems problems;              ///< what is there and must not be overwritten
};

/// Looks at the files of the caches of a graph, whose plan this is. `types`: all it names.
CacheReuse reuse_cache_files(const ValidGraph& graph, const Plan& plan, const StageTypes& types);

/// Size and time of change (ns) of a file; of a folder, of the folder itself.
std::string stamp_of_file(const std::string& path);

/// What a cache with a file keeps in it, or a producer reads from such a file, as a hash in digits;
/// empty for all other stages. `types`: all that the plan names.
std::string cache_key(const Plan& plan, StageNumber stage, const StageTypes& types);

}  // namespace brigade
