#pragma once

// How many slots of a replica's tasks were not FULL so far, in two entries written alternately, so
// that a replica killed while writing one leaves the other intact. An entry is written before its
// task is DONE and counts once that task is DONE; the newest entry is the one with the higher
// sequence number; of two with the same, as a repair leaves them, the one that is not written next.
// Task numbers would not work: after a repair a replica may claim a lower task than its last one.

#include <algorithm>
#include <cstdint>

#include "transports/limits.h"
#include "transports/policy.h"

namespace brigade {

/// Slots that are not FULL, by kind.
struct SlotCounts {
  std::uint64_t pads = 0;         ///< past the end of an epoch
  std::uint64_t empty_slots = 0;  ///< filtered or skipped here, or an empty slot before
  std::uint64_t dropped = 0;      ///< FULL in the input, dropped by drop_last
  std::uint64_t quarantined = 0;  ///< FULL in the input; they end their worker (of an
                                  ///< application, which is none: it has closed its output)
  /// No kind of slot, but counted in the same way, once the task is DONE: of one of several
  /// replicas of a stream, where its successor goes on (OpenContext::samples_done).
  std::uint64_t samples_done = 0;
  std::uint64_t consumed = 0;  ///< FULL in the input; consumed in an earlier run

  bool none() const {
    return (pads | empty_slots | dropped | quarantined | samples_done | consumed) == 0;
  }
  SlotCounts& operator+=(const SlotCounts& other) {
    pads += other.pads;
    empty_slots += other.empty_slots;
    dropped += other.dropped;
    quarantined += other.quarantined;
    samples_done += other.samples_done;
    consumed += other.consumed;
    return *this;
  }
  std::uint64_t total() const { return pads + empty_slots + dropped + quarantined + consumed; }
};

template <class P>
struct alignas(kCacheLineBytes) TallyEntry {
  typename P::template Atomic<std::uint64_t> sequence{0};  // 0: never written
  typename P::template Atomic<std::uint64_t> task{0};
  typename P::template Atomic<std::uint64_t> pads{0};
  typename P::template Atomic<std::uint64_t> empty_slots{0};
  typename P::template Atomic<std::uint64_t> dropped{0};
  typename P::template Atomic<std::uint64_t> quarantined{0};
  typename P::template Atomic<std::uint64_t> samples_done{0};
  typename P::template Atomic<std::uint64_t> consumed{0};

  SlotCounts counts() const {
    return {
        pads.load(std::memory_order_relaxed),         empty_slots.load(std::memory_order_relaxed),
        dropped.load(std::memory_order_relaxed),      quarantined.load(std::memory_order_relaxed),
        samples_done.load(std::memory_order_relaxed), consumed.load(std::memory_order_relaxed)};
  }
};

/// The two entries of one replica on one task queue.
template <class P>
struct Tally {
  TallyEntry<P> entries[2];

  int newest() const {
    const std::uint64_t even = entries[0].sequence.load(std::memory_order_acquire);
    const std::uint64_t odd = entries[1].sequence.load(std::memory_order_acquire);
    return static_cast<int>(std::max(even, odd) % 2);  // where write() has put it
  }

  /// Owner only, before DONE of `task`. `sequence` is stored last (release; pairs with newest()).
  void write(std::uint64_t sequence, std::uint64_t task, const SlotCounts& counts) {
    TallyEntry<P>& entry = entries[sequence % 2];
    entry.pads.store(counts.pads, std::memory_order_relaxed);
    entry.empty_slots.store(counts.empty_slots, std::memory_order_relaxed);
    entry.dropped.store(counts.dropped, std::memory_order_relaxed);
    entry.quarantined.store(counts.quarantined, std::memory_order_relaxed);
    entry.samples_done.store(counts.samples_done, std::memory_order_relaxed);
    entry.consumed.store(counts.consumed, std::memory_order_relaxed);
    entry.task.store(task, std::memory_order_relaxed);
    entry.sequence.store(sequence, std::memory_order_release);
  }
};

}  // namespace brigade
