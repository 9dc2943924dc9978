#pragma once

// The shape of a graph: everything from which the places of the shared words follow, and nothing
// else. Made from the plan (pipeline/records/shared_shape.h) by the supervisor and by every worker;
// they agree when the hashes do. Plain data.

#include <cstdint>
#include <vector>

#include "base/numbered.h"

namespace brigade {

// In shared memory, in JSON and in texts they are plain integers.
using StageNumber = Number<struct OfStage>;
using QueueNumber = Number<struct OfQueue>;  ///< among the task queues of a stage
using IndexSpaceNumber = Number<struct OfIndexSpace>;
template <class Element>
using ByStage = Numbered<StageNumber, Element>;
template <class Element>
using ByQueue = Numbered<QueueNumber, Element>;
template <class Element>
using ByIndexSpace = Numbered<IndexSpaceNumber, Element>;
template <class Element>
using ByReplica = Numbered<int, Element>;  ///< replicas are numbered through the graph

/// A task table and a watermark. Sizes in samples, except `window` (tasks).
struct QueueShape {
  std::uint64_t task = 1;
  std::uint64_t window = 1;
  IndexSpaceNumber index_space = 0;
  bool in_order = false;            ///< one replica, one task in flight: no task words are used
  bool fixed = false;               ///< `assign: fixed`: task t belongs to replica t mod R
  std::uint64_t start = 0;          ///< where its watermark begins, a multiple of `task`
  std::vector<StageNumber> inputs;  ///< stages whose rings it reads
};

/// How a stage with several task queues goes from one to the other (transports/joined_queues.h).
enum class Interleave : std::uint8_t {
  any,     ///< whichever has a task
  epochs,  ///< an epoch of the first task queue, the same epoch of the second, ..., the next of the
           ///< first
  cache    ///< task queue 0 gives what task queue 1 keeps
};

struct StageShape {
  int first_replica = 0;
  int replicas = 1;
  std::uint64_t slots = 0;  ///< M of its ring; 0 for a consumer
  /// Slots of its ring per sample of its task queue: slot s * fan_out + i is output i of sample s.
  /// Its watermarks and tasks count samples; readers of the ring count slots.
  std::uint64_t fan_out = 1;
  bool source = false;  ///< numbers an index space
  /// Its one replica is a program: it holds several tasks at once, finishes them in any order, and
  /// goes by what it has claimed where others go by the watermark (transports/channel.h).
  bool application = false;
  Interleave interleave = Interleave::any;
  ByQueue<QueueShape> queues;
  std::uint64_t skips_max = 0;
  std::uint64_t quarantine_max = 64;
  /// Of a flat_map stage: its inputs. Task queue 0 is then its output, and task queue
  /// 1 + i reads input i.
  int journal_ports = 0;
};

/// An index space below stages with a fan-out: its numbers are those of another, `fan_out` for
/// each.
struct DerivedIndexSpace {
  IndexSpaceNumber index_space = 0;
  IndexSpaceNumber above = 0;  ///< not itself derived
  std::uint64_t fan_out = 1;
};

struct SharedShape {
  ByStage<StageShape> stages;
  int index_spaces = 0;
  std::vector<DerivedIndexSpace> derived;
  /// How many ends of epochs it records, 0 where they follow from the epoch's length.
  ByIndexSpace<std::uint64_t> epoch_ends;
  int replicas = 0;
  std::uint64_t replica_extra_bytes = 0;  ///< counters and the like, per replica, 64-byte aligned

  std::uint64_t hash() const;  ///< of everything, and of the layout's version
};

}  // namespace brigade
