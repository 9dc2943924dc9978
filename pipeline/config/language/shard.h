#pragma once

// The part of the sources that this process reads: set by the file, by the
// program that reads the graph (from torch.distributed), or by its launcher
// (launchers.h: the known launchers, and which one counts if several have
// set variables), in this order. Without any of them: all of it.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "pipeline/config/language/graph_spec.h"
#include "pipeline/config/language/key_values.h"
#include "pipeline/config/yaml/diagnostics.h"
#include "pipeline/config/yaml/variables.h"

namespace brigade {

/// What a program knows of its rank.
struct ProgramRank {
  std::uint64_t rank = 0;
  std::uint64_t world = 0;  ///< 0: it knows nothing, and the launcher's variables count
  bool over_graph = false;  ///< stronger than `shard:` of the file
};

/// Where a rank comes from.
struct RankOrigin {
  std::string by;    ///< "shard", "program", "RANK, WORLD_SIZE"; empty: it is all of its run
  std::string half;  ///< RANK or WORLD_SIZE, of which the other is missing
  /// What other variables say that would count without these: "SLURM_PROCID, SLURM_NTASKS: rank 0
  /// of 2".
  std::vector<std::string> unlike;
  friend bool operator==(const RankOrigin&, const RankOrigin&) = default;
};

struct FoundShard {
  Shard shard;
  RankOrigin origin;
};

/// Nothing after an error: a rank outside its world, one of two numbers missing, a variable that is
/// no number. RANK without WORLD_SIZE, or WORLD_SIZE above 1 without RANK, is one unless `program`
/// is there, which tells its user of `half`; of other launchers half a pair says nothing.
std::optional<FoundShard> resolve_shard(const ShardSpec& spec, const Environment& environment,
                                        const std::optional<ProgramRank>& program,
                                        Diagnostics& diagnostics);

}  // namespace brigade
