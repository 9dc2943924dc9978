#pragma once

// The environment of a worker. A pure function.

#include <string>
#include <vector>

#include "pipeline/plan/plan.h"

namespace brigade {

/// Of programs of `exec:`.
inline constexpr const char* kLibraryVariable = "BRIGADE_LIBRARY";

/// `base`, where RANK and WORLD_SIZE are what the run's shard is, whoever has said it, for
/// libraries in which ranks speak to each other. One process that is all of its run is told so only
/// where it has been told otherwise.
std::vector<std::string> environment_of_rank(std::vector<std::string> base, const Shard& shard);

/// What a replica's process starts with: `base`, thread counts for the libraries, LOCAL_RANK where
/// a launcher has said it by another name, its role, and the stage's `env:`, which wins. `again`:
/// in the place of one that has ended; a fault that a test wants happens once, unless it says that
/// it comes again. `library`: the file of Brigade's library that runs the graph, which a program of
/// `exec:` loads; empty: there is none, or it is not known.
std::vector<std::string> worker_environment(const std::vector<std::string>& base,
                                            const PlanStage& stage, const std::string& role,
                                            bool again, const std::string& library = "");

}  // namespace brigade
