#pragma once

// A graph that has been proved: every name resolved, every parameter parsed and in range, every
// port's dtype and shape known, no cycle. Made only by validate(); input of the planner. Plain
// data, except for the pointers to contracts; those of the program must outlive it.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "pipeline/config/source_mark.h"
#include "stages/api/stage_types.h"

namespace brigade {

/// How several sources become one input.
enum class Join : std::uint8_t { single, zip, merge, epochs };

/// What happens to a sample whose stage returned an error.
struct OnError {
  bool skip = false;            ///< false: stop the run
  std::uint64_t count_max = 0;  ///< samples that may be skipped over the run (skip: N)
  double percent_max = 0;       ///< of one epoch's samples (skip: N%); 0: count_max holds
};

/// What happens when a source cannot be divided by the number of processes that share it.
enum class Uneven : std::uint8_t {
  pad,   ///< some samples are read twice in an epoch
  drop,  ///< the last few of an epoch are read by nobody
  error
};

/// The part of every indexed source that this process reads.
struct Shard {
  std::uint64_t rank = 0;
  std::uint64_t world = 1;
  Uneven uneven = Uneven::pad;
};

struct RestartSpec {
  enum class Policy : std::uint8_t { never, on_failure, always } policy = Policy::never;
  std::int64_t backoff_ns = 100'000'000;
  int burst = 5;
  std::int64_t within_ns = 30'000'000'000;
  bool degrade = false;  ///< when the burst is spent: carry on with the other replicas
};

/// When a call that does not return is said, and whether its process is ended.
struct StallSpec {
  std::int64_t after_ns = 60'000'000'000;
  bool abort = false;  ///< after twice as long SIGABRT, after three times SIGKILL
  friend bool operator==(const StallSpec&, const StallSpec&) = default;
};

/// When a consumer saves a checkpoint: neither given, at the end of each epoch of each source.
struct CheckpointEvery {
  std::uint64_t samples = 0;
  std::int64_t ns = 0;
  friend bool operator==(const CheckpointEvery&, const CheckpointEvery&) = default;
};

/// One edge as seen from its reader.
struct ValidSource {
  int stage = 0;            ///< index into ValidGraph::stages
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

struct ValidStage {
  std::string name;
  SourceMark mark;
  StageKind kind = StageKind::transform;
  const StageType* type = nullptr;
  std::shared_ptr<const StageType> chain;  ///< owns `type` where it is a chain
  std::string plugin;                      ///< file with the type; empty: the program has it
  std::shared_ptr<void> params;            ///< the contract's struct
  std::vector<std::pair<std::string, ParamValue>> param_values;  ///< canonical, all of them
  std::vector<ValidSource> sources;
  Join join = Join::single;
  Ports outputs;                     ///< its own, then the passed ones
  std::vector<PassedTensor> passed;  ///< of outputs, in their order at its end
  bool batched = false;              ///< process() is called with batches
  /// k where the type numbers its outputs anew (Numbering::fixed, Numbering::free).
  std::uint64_t outputs_per_input = 1;
  std::uint64_t samples = 0;  ///< of a producer, or room asked for by a cache; 0: not known

  std::uint64_t replicas = 1;  ///< 0: auto
  bool fixed = false;          ///< `assign: fixed`: task t to replica t mod R
  std::uint64_t threads = 1;
  std::uint64_t batch = 0;  ///< the writer's `batch:`; 0: none
  bool drop_last = false;
  std::uint64_t rows = 0;     ///< task size of a per-sample stage; 0: auto
  std::uint64_t buffers = 0;  ///< 0: the plan's sum
  std::string device = "cpu";
  OnError on_error;
  RestartSpec restart;
  int poison_after = 2;
  StallSpec stall;
  std::vector<int> cpus;
  std::vector<std::pair<std::string, std::string>> env;
  std::string random;  ///< name of the random stream; the stage's unless given

  bool shuffle = false;  ///< indexed producers
  std::optional<std::uint64_t> seed;
  std::uint64_t limit = 0;  ///< 0: all
};

struct ValidGraph {
  std::string name;
  std::vector<std::string> files;  ///< by SourceMark::file
  std::uint64_t seed = 0;
  std::uint64_t epochs = 1;
  std::vector<ValidStage> stages;    ///< sources before readers
  std::vector<PluginTypes> plugins;  ///< own the types of the stages that name one
  Shard shard;
  std::string checkpoint_file;  ///< absolute; empty: none
  CheckpointEvery checkpoint_every;
  std::int64_t drain_ns = 10'000'000'000;
  bool oversubscribe = false;
  std::uint64_t memory_bytes_max = 0;  ///< 0: what the machine allows
};

}  // namespace brigade
