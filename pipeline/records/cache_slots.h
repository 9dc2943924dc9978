#pragma once

// The samples of a cache: a slot per sample, after the ring in the segment of its stage, in
// memory that all replicas of the stage share. A slot is cached once: its state is stored
// last, and marks the slot as complete. A replica that dies while it writes one therefore
// leaves an incomplete slot, and the replica that repeats the task writes it again.
//
// The slot of a sample is its index in the source, so that the samples of the cache are those
// of the source, under the same ids. If a source is read in part (Subset), it is the position
// in that part, which is the id from there on. Several ranks have separate caches: there it
// is the place in this rank's reading order, and the id follows from it (cached_id).
//
// Any replica of the stage; keep() of a slot only by the replica that holds its task.

#include <atomic>
#include <cstring>
#include <vector>

#include "pipeline/plan/plan.h"
#include "pipeline/records/shared_shape.h"
#include "transports/slot_ring.h"

namespace brigade {

/// Where a cache keeps the sample of this header, of a source whose front is read.
inline std::uint64_t cache_slot_of(const Plan& plan, const SlotHeader& header) {
  return plan.shard.world == 1 ? header.id : header.index;
}

/// The id of the sample in this slot of a cache.
inline std::uint64_t cached_id(const Plan& plan, std::uint64_t slot) {
  return slot * plan.shard.world + plan.shard.rank;
}

class CacheSlots {
 public:
  /// `ring`: the ring of the cache's stage, at the beginning of its segment.
  CacheSlots(const PlanStage& stage, const SlotRing& ring)
      : slots_(reinterpret_cast<std::byte*>(ring.headers(0)) + stage.ring.bytes, stage.cache.slots,
               slot_arrays(stage.cache)) {}

  std::uint64_t slots() const { return slots_.slots(); }
  std::byte* slot(std::size_t array, std::uint64_t slot) const { return slots_.slot(array, slot); }

  /// `pad` for one that is not there (yet). What it holds may be read when it is full.
  SlotState state(std::uint64_t slot) const {
    // Pairs with keep().
    const auto state = static_cast<SlotState>(word(slot).load(std::memory_order_acquire));
    return state == SlotState::full || state == SlotState::empty ? state : SlotState::pad;
  }

  /// The beginning of what is kept, as a cache's file has it.
  std::byte* data() const { return reinterpret_cast<std::byte*>(slots_.headers(0)); }

  /// After the slot's tensors have been written, or for a sample that there is not.
  void keep(std::uint64_t slot, SlotState state) const {
    word(slot).store(static_cast<std::uint64_t>(state), std::memory_order_release);
  }

 private:
  /// Of a slot's header only this word is used, and in a file the next one: its checksum.
  std::atomic_ref<std::uint64_t> word(std::uint64_t slot) const {
    return std::atomic_ref<std::uint64_t>(slots_.headers(slot)->number);
  }

  SlotRing slots_;
};

}  // namespace brigade
