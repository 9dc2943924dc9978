#pragma once

// The plan: everything that will run, in numbers. Made by plan_graph() from a ValidGraph
// and the machine's limits, and const from there on; plain data, comparable, printable,
// and carried to every worker as JSON. No later step decides anything: segments, processes
// and loops are functions of the plan and, in a resumed run, of its ResumePoint.
//
// Units: slots and samples are counts of samples; *_bytes are bytes; *_ns nanoseconds.

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "pipeline/config/graph/valid_graph.h"
#include "transports/limits.h"

namespace brigade {

/// One tensor of a ring: an array of `slots` slots at `offset`, `slot_stride` bytes apart. Dense
/// tensors have slot_stride == bytes of a slot, so that consecutive slots are one contiguous batch.
struct PlanTensor {
  TensorType type;
  std::uint64_t slot_bytes = 0;  ///< of a full slot (upper bound where ragged)
  std::uint64_t slot_stride = 0;
  /// A multiple of 4096: in the ring, or in the ring's memory of the device.
  std::uint64_t offset = 0;
  friend bool operator==(const PlanTensor&, const PlanTensor&) = default;
};

/// A term of the sum that gives a ring its slots.
struct PlanTerm {
  std::string what;  ///< "being written by augment (2 x 64)", "slack", ...
  std::uint64_t slots = 0;
  friend bool operator==(const PlanTerm&, const PlanTerm&) = default;
};

/// The output of a stage: a ring of slots. Slot headers lie at offset 0, tensors after them.
struct PlanRing {
  std::uint64_t slots = 0;  ///< M; a multiple of every task size that writes or reads it
  std::uint64_t bytes = 0;  ///< of the whole segment: its worst case
  /// What it is planned to take: less than `bytes` where tensors are ragged and pages of theirs
  /// come and go (`sparse`).
  std::uint64_t expected_bytes = 0;
  bool sparse = false;
  bool huge = false;               ///< in huge pages, which somebody has reserved for such use
  std::uint64_t device_bytes = 0;  ///< of the tensors that lie on a device, in memory of their own
  std::vector<PlanTensor> tensors;
  std::vector<PlanTerm> terms;
  std::uint64_t page_bytes() const { return huge ? kHugePageBytes : kPageBytes; }
  friend bool operator==(const PlanRing&, const PlanRing&) = default;
};

/// A source as one task queue sees it.
struct PlanInput {
  StageNumber stage = 0;  ///< whose ring is read
  std::string port;
  std::vector<std::string> tensors;  ///< names in that ring that this reader sees, in order
  friend bool operator==(const PlanInput&, const PlanInput&) = default;
};

/// One task table and one watermark. A stage has one task queue, except under `join: epochs` and
/// `merge`, where it has one per source.
struct PlanQueue {
  std::vector<PlanInput> inputs;  ///< none for a producer; several under zip
  std::uint64_t task = 1;         ///< g: samples per task
  std::uint64_t window = 1;       ///< W: words in the task table
  IndexSpaceNumber index_space = 0;
  bool in_order = false;  ///< one replica, one task in flight: no task words are used
  bool fixed = false;     ///< task t belongs to replica t mod R
  friend bool operator==(const PlanQueue&, const PlanQueue&) = default;
};

/// A passed tensor: which tensor of which input becomes which output slot.
struct PlanPass {
  std::string name;
  int input = 0;  ///< index into the task queue's inputs
  friend bool operator==(const PlanPass&, const PlanPass&) = default;
};

/// The type of a stage that is a program's own.
inline constexpr std::string_view kApplicationType = "application";

/// Its keys are those that workers go by, as the user wrote them or validation completed them.
struct PlanStage : StageKeys {
  std::string name;
  std::string type;
  StageKind kind = StageKind::transform;
  /// Canonical, paths absolute. Of a program (`exec:`): each a text, which is JSON.
  std::vector<std::pair<std::string, ParamValue>> params;
  /// Of a mixture: what it draws from, by the names of its shares. Of these stages only name, type,
  /// parameters and the keys of what is read count.
  std::vector<PlanStage> parts;
  std::vector<std::string> exec;  ///< the program's absolute path, its arguments; none: a type
  std::string exec_folder;        ///< the working directory of that program
  int replicas = 1;
  int first_replica = 0;  ///< number in the graph of this stage's replica 0
  int threads = 1;
  bool indexed = false;  ///< a Producer; else a Stage
  bool batched = false;  ///< process() sees batches
  bool may_drop = false;
  bool stateful = false;   ///< keeps state between calls
  std::uint64_t hold = 1;  ///< tasks that a replica holds at once; where it holds(), `hold:`
  bool keeps = false;      ///< a consumer whose tasks may end after their call: Inputs::keep()
  std::vector<std::string> uploads;  ///< inputs that it copies to the device on which it writes
  Join join = Join::single;
  ByQueue<PlanQueue> queues;
  bool has_ring = false;
  PlanRing ring;  ///< when has_ring
  /// Slots of the ring per sample of the task queue: output i of sample s is slot s * fan_out + i.
  std::uint64_t fan_out = 1;
  IndexSpaceNumber ring_index_space = 0;  ///< which numbers the slots of the ring
  /// Of a cache: what it keeps, a slot per sample of its source, with the tensors of the ring. Lies
  /// behind the ring in its segment. Task queue 0 of a cache is its output, task queue 1 reads its
  /// source.
  PlanRing cache;
  /// Of a flat_map stage: how many it writes per sample at most. Task queue 0 is
  /// then its output, and each further task queue reads one input. 0: it does not.
  std::uint64_t flat_map_outputs = 0;
  /// (stage, task queue) of each reader of this ring.
  std::vector<std::pair<StageNumber, QueueNumber>> readers;
  std::vector<PlanPass> passes;
  std::uint64_t skips_max = 0;  ///< entries of the skip list
  /// A task may have an EMPTY or a PAD between FULL slots: private scratch is needed.
  bool empty_slots_possible = false;
  std::vector<int> shared;  ///< what its replicas map, by Plan::shared
  std::uint64_t seed = 0;   ///< the stage's, else the graph's
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
  friend bool operator==(const PlanStage&, const PlanStage&) = default;

  /// A program of any language is each of its replicas.
  bool is_exec() const { return !exec.empty(); }
  bool writes_on_device() const { return ring.device_bytes > 0; }
  bool is_cache() const { return cache.slots != 0; }
  /// The program that started the graph is its one replica.
  bool is_application() const { return type == kApplicationType; }
  bool is_output() const { return is_application() && kind == StageKind::consumer; }
  /// Several tasks of a replica may be claimed at once, and end in any order.
  bool holds() const { return is_output() || keeps; }
  /// What it copies to its device lies in rings that may be pinned for that.
  bool may_pin() const { return keeps || !uploads.empty(); }
  bool is_input() const { return is_application() && kind == StageKind::producer; }
  /// Task queue 0 writes the ring and reads nothing; the others read the sources.
  bool has_output_queue() const { return flat_map_outputs != 0 || is_cache(); }
  std::uint64_t segment_bytes() const { return ring.bytes + cache.bytes; }
};

/// Stages that share one numbering of samples.
struct PlanIndexSpace {
  std::vector<StageNumber> sources;  ///< producer stages that number it (several under zip)
  std::uint64_t multiple = 1;        ///< L: an epoch takes a multiple of it
  /// The index space whose numbers these are, `fan_out` for each; -1: the sources number it
  /// themselves.
  IndexSpaceNumber above = -1;
  std::uint64_t fan_out = 1;
  std::uint64_t epochs_max = ~std::uint64_t{0};  ///< 1 above a cache, however many the graph has
  friend bool operator==(const PlanIndexSpace&, const PlanIndexSpace&) = default;
};

/// A tensor in a segment of its own, which replicas map (pipeline/plan/shared_tensors.h).
struct PlanShared {
  TensorType type;
  std::uint64_t bytes = 0;  ///< of its elements
  std::uint64_t parts = 1;  ///< under `access: own_part`, one for each replica that maps it
  bool own_part = false;
  std::string init_file;        ///< what it holds at the beginning; empty: zeros
  StageNumber init_stage = -1;  ///< whose replica 0 fills it; -1: none
  std::string save_file;        ///< empty: it is not kept
  friend bool operator==(const PlanShared&, const PlanShared&) = default;
};

/// A line for the user that is not an error: "3 replicas want 3 cores, 2 are there".
using PlanWarnings = std::vector<std::string>;

struct Plan : GraphKeys {
  std::string file;           ///< as given by the user, for messages
  ByStage<PlanStage> stages;  ///< sources before readers
  ByIndexSpace<PlanIndexSpace> index_spaces;
  std::vector<PlanShared> shared;
  Shard shard;
  int replicas = 0;  ///< in the graph
  std::string checkpoint_file;
  std::uint64_t checkpoint_samples = 0;  ///< a checkpoint after so many samples; 0: does not count
  std::int64_t checkpoint_ns = 0;        ///< or after so long; both 0: at the ends of epochs
  /// Rings as expected, shared tensors, control segment (estimate), scratch for empty slots.
  std::uint64_t memory_bytes = 0;
  PlanWarnings warnings;
  friend bool operator==(const Plan&, const Plan&) = default;
};

/// Epochs of an index space.
inline std::uint64_t index_space_epochs(const Plan& plan, IndexSpaceNumber index_space) {
  const std::uint64_t most = plan.index_spaces[index_space].epochs_max;
  return most < plan.epochs ? most : plan.epochs;
}

inline constexpr std::uint64_t kPlanMultipleMax = 1u << 20;       ///< L above it is an error
inline constexpr std::uint64_t kFanOutMax = kOutputsPerInputMax;  ///< of all stages on a way
inline constexpr std::uint64_t kSlotHeaderBytes = 32;  ///< transports/slot_ring.h asserts it
inline constexpr int kPlanReplicasMax = 256;

}  // namespace brigade
