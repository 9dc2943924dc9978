#pragma once

// Which part of the sources this process reads: as the file says it, or as its launcher does
// (launchers.h: those that are known, and which one counts where several have left variables).
// Without any of them: all of it.

#include <optional>

#include "pipeline/config/language/graph_spec.h"
#include "pipeline/config/language/key_values.h"
#include "pipeline/config/yaml/diagnostics.h"
#include "pipeline/config/yaml/variables.h"

namespace brigade {

/// Nothing after an error: a rank outside its world, one of two numbers missing, a variable that is
/// no number, RANK without WORLD_SIZE or the other way round (of other launchers half a pair says
/// nothing).
std::optional<Shard> resolve_shard(const ShardSpec& spec, const Environment& environment,
                                   Diagnostics& diagnostics);

}  // namespace brigade
