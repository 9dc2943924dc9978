#pragma once

// The number of slots of a stage's ring: a sum with a line per term,
// so that the use of the memory is visible. The lines, in this order:
//
//   being written      R x g of the writer: what its replicas have claimed
//   being read         R x g of each reader
//   queued             one task of the largest reader: made while that one is busy
//   for the longest way to a zip   the tasks on the longest way down, where that is more than the
//                      lines above: of several readers one may keep its oldest sample until a zip
//                      has it, and the zip waits for the tasks of the others
//   ahead of a slow sample   R x g of the writer again, where a task is at most 1 MiB: samples
//                      become readable in order, so one slow sample would stop all other replicas
//                      at once
//   to work longer between wake-ups   until the ring holds 1,024 samples and 32 tasks of its
//                      largest neighbor, or 1 MiB
//   up to a multiple   slots are contiguous in every batch only when every task size that writes or
//                      reads the ring divides it
//
// Why 1 MiB: a wake-up across cores costs 30 us, and on few cores a process works until its ring
// is full or empty; 1 MiB of cheap samples is a few hundred microseconds of work, so that switching
// costs percents, and it still stays in a level 2 cache. Rings of large batches get none of it.
// Why 1,024 samples: tasks of one sample that take 0.1 us each fill 32 slots in a tenth of a
// wake-up (docs/decisions/wake_ups.md).
// Why the first four lines are the least that `buffers:` may ask for: with less, a replica that
// has work could not start it. Pure functions.

#include <cstdint>
#include <string>
#include <vector>

#include "pipeline/plan/plan.h"

namespace brigade {

inline constexpr std::uint64_t kRingBytesBusy = 1 << 20;
inline constexpr std::uint64_t kRingTasksBusy = 32;
inline constexpr std::uint64_t kRingSlotsBusy = 1024;
inline constexpr std::uint64_t kSlowTaskBytesMax = 1 << 20;

/// One side of a ring.
struct RingUser {
  std::string stage;
  std::uint64_t replicas = 1;
  std::uint64_t task = 1;  ///< samples
};

struct RingDemand {
  RingUser writer;
  std::vector<RingUser> readers;  ///< one per reading task queue
  std::uint64_t way_to_zip = 0;   ///< samples of the tasks on the longest way down; 0: no zip
  std::uint64_t slot_bytes = 1;   ///< header included
  std::uint64_t buffers = 0;      ///< as the user asked, in tasks of the largest user; 0: auto
};

struct RingSlots {
  std::uint64_t slots = 0;      ///< sum of the terms; kSaturated when there is no such number
  std::uint64_t held = 0;       ///< of these, what stages hold and one queued task
  std::uint64_t multiple = 1;   ///< least common multiple of all task sizes
  bool buffers_raised = false;  ///< `buffers:` was less than what stages hold
  std::vector<PlanTerm> terms;  ///< no line of 0 slots
};

RingSlots size_ring(const RingDemand& demand);

}  // namespace brigade
