#pragma once

// Which part of the sources this process reads: as the file says it, or as the launcher does. Known
// are torchrun (RANK, WORLD_SIZE), Slurm (SLURM_PROCID, SLURM_NTASKS) and Open MPI
// (OMPI_COMM_WORLD_RANK, OMPI_COMM_WORLD_SIZE), in this order. Without any of them: all of it.

#include <optional>

#include "pipeline/config/diagnostics.h"
#include "pipeline/config/graph_spec.h"
#include "pipeline/config/valid_graph.h"
#include "pipeline/config/variables.h"

namespace brigade {

/// Nothing after an error: a rank outside its world, one of two numbers missing, a variable that is
/// no number.
std::optional<Shard> resolve_shard(const ShardSpec& spec, const Environment& environment,
                                   Diagnostics& diagnostics);

}  // namespace brigade
