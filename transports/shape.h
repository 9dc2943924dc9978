#pragma once

// The shape of a graph: everything from which the places of the shared words follow, and nothing
// else. Made from the plan (pipeline/run/graph_shape.h) by the supervisor and by every worker; they
// agree when the hashes do. Plain data.

#include <cstdint>
#include <vector>

namespace brigade {

/// A task table and a mark. Sizes in samples, except `window` (tasks).
struct LaneShape {
  std::uint64_t task = 1;
  std::uint64_t window = 1;
  int domain = 0;
  bool in_order = false;    ///< one replica, one task in hand: no task words are used
  bool fixed = false;       ///< `assign: fixed`: task t belongs to replica t mod R
  std::uint64_t start = 0;  ///< where its mark begins, a multiple of `task`
  std::vector<int> inputs;  ///< stages whose pools it reads
};

/// How a stage with several lanes goes from one to the other (transports/joined_lanes.h).
enum class Turns : std::uint8_t {
  any,     ///< whichever has a task
  epochs,  ///< an epoch of the first lane, the same epoch of the second, ..., the next of the first
  cache    ///< lane 0 gives what lane 1 keeps
};

struct StageShape {
  int first_replica = 0;
  int replicas = 1;
  std::uint64_t rows = 0;  ///< M of its pool; 0 for a consumer
  /// Rows of its pool per sample of its lane: row s * fan_out + i is output i of sample s. Its
  /// marks and tasks count samples; readers of the pool count rows.
  std::uint64_t fan_out = 1;
  bool source = false;  ///< numbers a domain
  Turns turns = Turns::any;
  std::vector<LaneShape> lanes;
  std::uint64_t skips_max = 0;
  std::uint64_t quarantine_max = 64;
  /// Of a stage that numbers its outputs freely: its inputs. Lane 0 is then its output, and lane
  /// 1 + i reads input i.
  int journal_ports = 0;
};

/// A domain below stages with a fan-out: its numbers are those of another, `fan_out` for each.
struct DerivedDomain {
  int domain = 0;
  int above = 0;  ///< not itself derived
  std::uint64_t fan_out = 1;
};

struct GraphShape {
  std::vector<StageShape> stages;
  int domains = 0;
  std::vector<DerivedDomain> derived;
  /// By domain: how many ends of epochs it records, 0 where they follow from the epoch's length.
  std::vector<std::uint64_t> epoch_ends;
  int replicas = 0;
  std::uint64_t replica_extra_bytes = 0;  ///< counters and the like, per replica, 64-byte aligned

  std::uint64_t hash() const;  ///< of everything, and of the layout's version
};

}  // namespace brigade
