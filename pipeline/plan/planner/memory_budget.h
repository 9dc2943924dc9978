#pragma once

// The resources that a plan needs, checked against the machine: memory of all
// rings and the control segment, the size of a single memory file, address space
// of the supervisor (which maps everything), and file descriptors. Checked before
// anything is created, because the kernel overcommits memory files: without this
// check a run ends by SIGBUS or the out-of-memory killer. Pure functions.

#include "pipeline/plan/plan.h"
#include "pipeline/plan/plan_problem.h"
#include "pipeline/plan/planner/machine_limits.h"

namespace brigade {

inline constexpr std::uint64_t kDescriptorsPerReplica = 3;
inline constexpr std::uint64_t kDescriptorsPerRing = 2;
inline constexpr std::uint64_t kDescriptorsOfSupervisor = 16;

/// Upper estimate of the control segment (task tables, watermarks, counters, lists) and the plan.
std::uint64_t control_bytes_estimate(const Plan& plan);

/// Private memory in which stages collect the FULL slots of a batch.
std::uint64_t scratch_bytes(const Plan& plan, const PlanStage& stage);

/// An array of a ring that a stage reads, in whole pages.
struct ReadArray {
  StageNumber source = 0;  ///< whose ring
  std::size_t array = 0;   ///< of its tensors
  std::uint64_t bytes = 0;
};
/// What can be pinned of it for a device, each array once. What is pinned stays where it is: not
/// those of ragged tensors, whose pages come and go, nor what lies on a device.
std::vector<ReadArray> arrays_to_pin(const Plan& plan, const PlanStage& stage);

/// What the supervisor opens at most.
std::uint64_t descriptors_needed(const Plan& plan);

/// "augment -> train, test": a stage and who reads it.
std::string edge_text(const Plan& plan, const PlanStage& stage);

/// "1.5 MiB", or "about 1.5 MiB, at worst 64.0 MiB" of a sparse ring.
std::string ring_size_text(const PlanRing& ring);

/// plan.memory_bytes with every ragged tensor at its bound: also what the supervisor maps.
std::uint64_t worst_bytes(const Plan& plan);

/// Sets plan.memory_bytes and adds a problem per limit that is too small.
void check_memory(const ValidGraph& graph, const MachineLimits& limits, Plan& plan,
                  PlanProblems& problems);

/// Against the hard limit: the supervisor raises the soft one.
void check_descriptors(const MachineLimits& limits, const Plan& plan, PlanProblems& problems);

}  // namespace brigade
