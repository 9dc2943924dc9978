#pragma once

// How many samples a task has, and what multiple of samples an epoch is padded to.
//
// - A per-batch stage: the batch of its edge. A per-sample stage with `chunk:`: that.
// - `chunk: auto`: the largest divisor of its readers' batches that is no larger than the largest
//   of them and keeps a task under 64 KiB (slot headers included, the larger of what it reads and
//   writes). Readers' batches are those of the stages below it, through per-sample stages. Where
//   there are none, 64 takes their place, or the nearest number to it that fits the other sizes of
//   the index space: sizes that no key sets never make L or a ring larger.
// - A flat_map stage works on one sample at a time and publishes each output
//   by itself.
// - L, the multiple of an index space: the least common multiple of all its task sizes. Above 2^20
// it is
//   a problem; from twice the largest size on, a warning. Where each of its samples becomes k of a
//   derived index space, a task of g there wants a multiple of g / gcd(g, k); that index space's
//   own is k L.
//
// Why tasks at all: a claim and its publication cost 0.1 us, so 64 cheap samples share them, while
// a task over 64 KiB takes long enough alone and would only leave the level 2 cache. Pure
// functions.

#include <string>

#include "pipeline/plan/plan.h"
#include "pipeline/plan/plan_problem.h"

namespace brigade {

inline constexpr std::uint64_t kTaskBytesMax = 64 << 10;
inline constexpr std::uint64_t kTaskSlotsDefault = 64;  ///< where no reader wants batches

/// Samples per batch on the edge from source `i` of a stage, the stage's own figure before its
/// writer's default; 0: none. Under `join: zip` the one that is given holds for all.
std::uint64_t edge_batch(const ValidGraph& graph, const ValidStage& stage, std::size_t i);

/// Bytes of one sample with its slot header, upper bounds where ragged; sticks at kSaturated.
std::uint64_t slot_bytes_of(const Ports& tensors);

/// The largest divisor of `base` that is at most `most`; all > 0.
std::uint64_t largest_divisor(std::uint64_t base, std::uint64_t most);

/// The number nearest to `size` that divides `other` or is a multiple of it; both > 0.
std::uint64_t nearest_fit(std::uint64_t size, std::uint64_t other);

/// Sets `task` of every task queue and `multiple` of every index space. Needs task queues and index
/// spaces.
void set_task_sizes(const ValidGraph& graph, Plan& plan, PlanProblems& problems);

}  // namespace brigade
