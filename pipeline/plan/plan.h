#pragma once

// The plan: everything that will run, in numbers. Made by plan_graph() from a ValidGraph and the
// machine's limits; plain data, comparable, printable, and carried to every worker as JSON. Nothing
// after it decides anything: segments, processes and loops are functions of the plan.
//
// Units: rows and samples are counts of samples; *_bytes are bytes; *_ns nanoseconds.

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "pipeline/config/valid_graph.h"

namespace brigade {

/// One tensor of a pool: an array of `rows` rows at `offset`, `row_stride` bytes apart. Dense
/// tensors have row_stride == bytes of a row, so that consecutive rows are one contiguous batch.
struct PlanTensor {
  TensorType type;
  std::uint64_t row_bytes = 0;  ///< of a full row (upper bound where ragged)
  std::uint64_t row_stride = 0;
  std::uint64_t offset = 0;  ///< in the pool, a multiple of 4096
  friend bool operator==(const PlanTensor&, const PlanTensor&) = default;
};

/// A term of the sum that gives a pool its rows.
struct PlanHolder {
  std::string what;  ///< "being written by augment (2 x 64)", "slack", ...
  std::uint64_t rows = 0;
  friend bool operator==(const PlanHolder&, const PlanHolder&) = default;
};

/// The output of a stage: a ring of rows. Row headers lie at offset 0, tensors after them.
struct PlanPool {
  std::uint64_t rows = 0;   ///< M; a multiple of every task size that writes or reads it
  std::uint64_t bytes = 0;  ///< of the whole segment: its worst case
  /// What it is planned to take: less than `bytes` where tensors are ragged and pages of theirs
  /// come and go (`sparse`).
  std::uint64_t expected_bytes = 0;
  bool sparse = false;
  std::vector<PlanTensor> tensors;
  std::vector<PlanHolder> holders;
  friend bool operator==(const PlanPool&, const PlanPool&) = default;
};

/// A source as one lane sees it.
struct PlanInput {
  int stage = 0;  ///< whose pool is read
  std::string port;
  std::vector<std::string> tensors;  ///< names in that pool that this reader sees, in order
  friend bool operator==(const PlanInput&, const PlanInput&) = default;
};

/// One task table and one low-water mark. A stage has one lane, except under `join: epochs` and
/// `merge`, where it has one per source.
struct PlanLane {
  std::vector<PlanInput> inputs;  ///< none for a producer; several under zip
  std::uint64_t task = 1;         ///< g: samples per task
  std::uint64_t window = 1;       ///< W: words in the task table
  int domain = 0;
  bool in_order = false;  ///< one replica, one task in hand: no task words are used
  bool fixed = false;     ///< task t belongs to replica t mod R
  /// Of a resumed run, what an earlier one has consumed: the samples before this number, and those
  /// of earlier epochs than this.
  std::uint64_t resume_at = 0;
  std::uint64_t resume_epoch = 0;  ///< where epochs end where their data do
  friend bool operator==(const PlanLane&, const PlanLane&) = default;
};

/// A passed tensor: which tensor of which input becomes which output row.
struct PlanPass {
  std::string name;
  int input = 0;  ///< index into the lane's inputs
  friend bool operator==(const PlanPass&, const PlanPass&) = default;
};

/// A sample that one of a stage's lanes reads.
struct PlanPlace {
  int lane = 0;
  std::uint64_t epoch = 0;
  std::uint64_t index = 0;
  friend bool operator==(const PlanPlace&, const PlanPlace&) = default;
};

inline bool operator==(const OnError& a, const OnError& b) {
  return a.skip == b.skip && a.count_max == b.count_max && a.percent_max == b.percent_max;
}
inline bool operator==(const RestartSpec& a, const RestartSpec& b) {
  return a.policy == b.policy && a.backoff_ns == b.backoff_ns && a.burst == b.burst &&
         a.within_ns == b.within_ns && a.degrade == b.degrade;
}

struct PlanStage {
  std::string name;
  std::string type;
  StageKind kind = StageKind::transform;
  std::vector<std::pair<std::string, ParamValue>> params;  ///< canonical, paths absolute
  int replicas = 1;
  int first_replica = 0;  ///< number in the graph of this stage's replica 0
  int threads = 1;
  std::string device = "cpu";
  bool indexed = false;  ///< a Producer; else a Stage
  bool batched = false;  ///< process() sees batches
  bool may_drop = false;
  bool stateful = false;  ///< keeps state between calls
  Join join = Join::single;
  std::vector<PlanLane> lanes;
  bool has_pool = false;
  PlanPool pool;  ///< when has_pool
  /// Rows of the pool per sample of the lane: output i of sample s is row s * fan_out + i.
  std::uint64_t fan_out = 1;
  int pool_domain = 0;  ///< which numbers the rows of the pool
  /// Of a cache: what it keeps, a row per sample of its source, with the tensors of the pool. Lies
  /// behind the pool in its segment. Lane 0 of a cache is its output, lane 1 reads its source.
  PlanPool cache;
  /// Of a stage that numbers its outputs freely: how many it writes per sample at most. Lane 0 is
  /// then its output, and each further lane reads one input. 0: it does not.
  std::uint64_t free_outputs = 0;
  /// (stage, lane) of each reader of this pool.
  std::vector<std::pair<int, int>> readers;
  std::vector<PlanPass> passes;
  std::uint64_t skips_max = 0;  ///< entries of the skip list
  bool holes_possible = false;  ///< some input row may be a hole: private scratch is needed
  bool drop_last = false;
  OnError on_error;
  RestartSpec restart;
  int poison_after = 2;
  StallSpec stall;
  std::vector<int> cpus;
  std::vector<std::pair<std::string, std::string>> env;
  std::string random;      ///< name of the random stream
  std::uint64_t seed = 0;  ///< the stage's, else the graph's
  bool shuffle = false;
  std::uint64_t limit = 0;  ///< 0: all
  /// Of a stream: emitting nothing for so long, it closes its open batch.
  std::int64_t max_wait_ns = 0;
  /// That process() takes at most, whatever a sample holds, beyond what open() has taken; 0: not
  /// known. And what decides it: "pixels_max: 1000".
  std::uint64_t private_bytes_max = 0;
  std::string private_bytes_by;
  // With a checkpoint.
  bool saves = false;         ///< a consumer whose state is saved with its position
  std::string saved_file;     ///< where, when it saves
  std::string position_file;  ///< of every consumer
  // Of a resumed run.
  std::uint64_t fingerprint = 0;           ///< of a source, as it was; 0: not known
  bool restored = false;                   ///< it goes on from what `saved_file` has
  std::uint64_t epoch_ends_told = 0;       ///< calls of epoch_end that were made before
  std::uint64_t samples_before = 0;        ///< of a consumer, earlier in the same command
  std::vector<std::uint64_t> quarantined;  ///< samples of its lanes (lane_number.h)
  std::vector<PlanPlace> skipped;          ///< failed before it begins; they count on
  friend bool operator==(const PlanStage&, const PlanStage&) = default;

  bool is_cache() const { return cache.rows != 0; }
  /// Lane 0 writes the pool and reads nothing; the others read the sources.
  bool has_output_lane() const { return free_outputs != 0 || is_cache(); }
  std::uint64_t segment_bytes() const { return pool.bytes + cache.bytes; }
};

/// Stages that share one numbering of samples.
struct PlanDomain {
  std::vector<int> sources;    ///< producer stages that number it (several under zip)
  std::uint64_t multiple = 1;  ///< L: an epoch takes a multiple of it
  /// The domain whose numbers these are, `fan_out` for each; -1: the sources number it themselves.
  int above = -1;
  std::uint64_t fan_out = 1;
  std::uint64_t epochs_max = ~std::uint64_t{0};  ///< 1 above a cache, however many the graph has
  /// Of a resumed run: the number at which all marks begin, a multiple of L; the epoch it is in;
  /// and how many samples an epoch had (0: not known, or its source finds out as it goes).
  std::uint64_t start = 0;
  std::uint64_t first_epoch = 0;
  std::uint64_t samples = 0;
  friend bool operator==(const PlanDomain&, const PlanDomain&) = default;
};

/// Which part of every indexed source this run reads.
struct PlanShard {
  std::uint64_t rank = 0;
  std::uint64_t world = 1;
  Uneven uneven = Uneven::pad;
  friend bool operator==(const PlanShard&, const PlanShard&) = default;
};

/// A line for the user that is not an error: "3 replicas want 3 cores, 2 are there".
using PlanWarnings = std::vector<std::string>;

struct Plan {
  std::string name;
  std::string file;  ///< as given by the user, for messages
  std::uint64_t seed = 0;
  std::uint64_t epochs = 1;
  std::vector<PlanStage> stages;  ///< sources before readers
  std::vector<PlanDomain> domains;
  PlanShard shard;
  int replicas = 0;  ///< in the graph
  std::string checkpoint_file;
  std::uint64_t checkpoint_samples = 0;  ///< a checkpoint after so many samples; 0: does not count
  std::int64_t checkpoint_ns = 0;        ///< or after so long; both 0: at the ends of epochs
  std::string run_id;                    ///< tells the checkpoints of this command from others'
  std::string order;  ///< what defines the order of samples, as text (order.h); with a checkpoint
  std::int64_t drain_ns = 0;
  /// Pools as expected, control segment (estimate), scratch for holes.
  std::uint64_t memory_bytes = 0;
  PlanWarnings warnings;
  friend bool operator==(const Plan&, const Plan&) = default;
};

/// Epochs of a domain.
inline std::uint64_t domain_epochs(const Plan& plan, int domain) {
  const std::uint64_t most = plan.domains[static_cast<std::size_t>(domain)].epochs_max;
  return most < plan.epochs ? most : plan.epochs;
}

inline constexpr std::uint64_t kPlanMultipleMax = 1u << 20;       ///< L above it is an error
inline constexpr std::uint64_t kFanOutMax = kOutputsPerInputMax;  ///< of all stages on a way
inline constexpr std::uint64_t kRowHeaderBytes = 32;  ///< transports/row_pool.h asserts it
inline constexpr int kPlanReplicasMax = 256;

}  // namespace brigade
