#pragma once

// The leases of a running graph, and why a watermark does not advance: read from
// the shared words at one moment, from this process or another. `brigade leases`
// prints it, as does a run that makes no progress. Plain data; any thread.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "pipeline/plan/plan.h"
#include "pipeline/plan/sample_address.h"
#include "transports/layout.h"

namespace brigade {

/// What a replica is at.
enum class Standing : std::uint8_t {
  not_begun,     ///< opening, or waiting for the others to open
  working,       ///< in a call of its stage, or between two
  needs_input,   ///< its inputs have nothing new
  needs_memory,  ///< its ring is full: a reader is behind
  needs_other    ///< the end, a stop, the other replicas
};

struct ReplicaLease {
  int number = 0;  ///< in the graph
  StageNumber stage = 0;
  int replica = 0;  ///< of the stage
  Standing standing = Standing::not_begun;
  std::int64_t for_ns = 0;              ///< how long it has been at that
  std::uint64_t tasks = 0;              ///< leases: tasks it has claimed
  std::optional<SampleAddress> sample;  ///< in flight
  int process = 0;                      ///< its pid; 0: not known, the shared words do not have it
};

/// One per replica, in the order of their numbers.
std::vector<ReplicaLease> read_leases(const Plan& plan, const Control<SystemPolicy>& control,
                                      std::int64_t now_ns);

/// A task queue whose watermark has further to go.
struct StandingWatermark {
  StageNumber stage = 0;
  QueueNumber queue = 0;
  std::uint64_t level = 0;
  std::uint64_t end = 0;  ///< kNever while unknown
};

/// The place that everybody else waits for, one way or another: followed from the first task queue
/// that is not at its end, to the writer while it lacks input and to the slowest reader while it
/// lacks memory. None once every task queue is at its end.
std::optional<StandingWatermark> find_standing_watermark(const Plan& plan,
                                                         const Control<SystemPolicy>& control,
                                                         const std::vector<ReplicaLease>& leases);

/// "stage \"decode\" stands at sample 812 of 60,000: replica 1 has been at it for 31.0 s".
std::string standstill_text(const Plan& plan, const Control<SystemPolicy>& control,
                            const std::vector<ReplicaLease>& leases);

/// A table: a line per replica, and the watermarks of every stage.
std::string leases_text(const Plan& plan, const Control<SystemPolicy>& control,
                        const std::vector<ReplicaLease>& leases);

}  // namespace brigade
