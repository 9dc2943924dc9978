#pragma once

// A validated graph: every name resolved, every parameter parsed and in range, every
// port's dtype and shape known, no cycle. Made only by validate(); input of the planner.
// Plain data, except for the pointers to contracts; those of the program must outlive it.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <brigade/stage_types.h>
#include "pipeline/config/language/key_values.h"
#include "pipeline/config/yaml/source_text.h"
#include "transports/shape.h"

namespace brigade {

/// One edge as seen from its reader.
struct ValidSource {
  StageNumber stage = 0;    ///< index into ValidGraph::stages
  std::string port;         ///< name of the port; the source stage's name where none was given
  std::string tensor;       ///< `stage.tensor`: only this one; empty: all
  std::uint64_t batch = 0;  ///< samples per batch on this edge; 0: none given
  std::optional<std::int64_t> max_wait_ns;
  Ports tensors;  ///< what arrives, per sample
  SourceMark mark;
};

/// A tensor that travels on without the stage naming it.
struct PassedTensor {
  std::string name;
  int source = 0;  ///< index into sources
};

/// The stage types of a plugin that stages name.
struct PluginTypes {
  std::string file;  ///< absolute
  std::shared_ptr<const StageTypes> types;
};

/// Most samples that a stage may make of each.
inline constexpr std::uint64_t kOutputsPerInputMax = 1u << 16;

struct ValidStage : StageKeys, StagePlanningKeys {
  std::string name;
  SourceMark mark;
  StageKind kind = StageKind::transform;
  const StageType* type = nullptr;
  std::shared_ptr<const StageType> fused;  ///< owns `type` where it is a fused stage
  std::vector<ValidStage> parts;           ///< of a mixture, by the names of its shares
  std::vector<std::string> exec;  ///< of `exec:`: the program's absolute path, its arguments
  std::string exec_folder;        ///< absolute: what its relative paths are relative to
  std::string plugin;             ///< file with the type; empty: the program has it
  std::shared_ptr<void> params;   ///< the contract's struct
  std::vector<std::pair<std::string, ParamValue>> param_values;  ///< canonical, all of them
  std::vector<ValidSource> sources;
  Join join = Join::single;
  Ports outputs;                     ///< its own, then the passed ones
  std::vector<PassedTensor> passed;  ///< of outputs, in their order at its end
  bool batched = false;              ///< process() is called with batches
  std::uint32_t files = 0;  ///< of a producer of files: as many lie there now; 0: not known
  /// k where the type is a flat_map (Numbering::expand, Numbering::flat_map).
  std::uint64_t outputs_per_input = 1;
  std::vector<int> shared;    ///< what its replicas map, by ValidGraph::shared
  std::uint64_t samples = 0;  ///< of a producer, or room asked for by a cache; 0: not known
  std::vector<SkippedInputs> skipped;  ///< by the source itself, beside these
  bool keeps_all = false;  ///< drops no sample, though its type may: by its own code, or its file
  std::string uncounted;   ///< why the samples of a producer could not be counted
};

/// A tensor that replicas of several stages may map.
struct ValidShared {
  TensorType type;  ///< of the whole tensor, at least one dimension
  SourceMark mark;
  std::string init_file;        ///< absolute; empty: none
  StageNumber init_stage = -1;  ///< whose replica 0 fills it; -1: none
  std::string save_file;        ///< absolute; empty: none
  bool own_part = false;        ///< of one stage; each replica writes its part
};

struct ValidGraph : GraphKeys, GraphPlanningKeys {
  std::vector<std::string> files;    ///< by SourceMark::file
  ByStage<ValidStage> stages;        ///< sources before readers
  std::vector<PluginTypes> plugins;  ///< own the types of the stages that name one
  std::vector<ValidShared> shared;   ///< names unique
  Shard shard;
  std::string checkpoint_file;  ///< absolute; empty: none
  CheckpointEvery checkpoint_every;
};

// Questions about a graph, and parts of it. Pure functions.

/// Index of the stage of that name; -1: there is none.
StageNumber find_stage(const ValidGraph& graph, std::string_view name);

/// By index: whether the stage reads it, directly or through others. Not the stage itself.
ByStage<bool> stages_above(const ValidGraph& graph, StageNumber stage);

/// Takes away all stages but these. None of them may read one that goes.
void keep_stages(ValidGraph& graph, const ByStage<bool>& kept);

/// What of KeyUsers (key_table.h) the stage is; without a type, all that its kind may be.
std::uint8_t key_users(const ValidStage& stage);

/// Whether a producer that is only drawn from by a mixture may have it, and the mixture may not.
bool is_key_of_part(std::string_view key);

}  // namespace brigade
