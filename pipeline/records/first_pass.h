#pragma once

// A writer's first pass over its ring costs a page fault for every page, as much as the writing
// itself. Here the writer's page tables are filled ahead of it, a chunk at a time, with one
// call each (MADV_POPULATE_WRITE): half the time, and no wait before the first sample. Only for
// arrays whose every page will be written, which the supervisor fills anyway (Prefault): a
// sparse array would get memory that it never needs. Readers have nothing to gain, since the
// kernel maps 16 pages with each of their faults. docs/decisions/first_pass.md has the figures.

#include <cstdint>
#include <vector>

#include "pipeline/plan/plan.h"
#include "transports/slot_ring.h"

namespace brigade {

class FirstPass {
 public:
  /// `slots_at_once`: of a task.
  FirstPass(const PlanRing& ring, const SlotRing& slots, std::uint64_t slots_at_once);

  /// Before the slots of a task are written, which begin at this number.
  void come_to(std::uint64_t number) {
    if (left_ > 0) [[unlikely]]
      fill_tables(number);
  }

 private:
  void fill_tables(std::uint64_t number);

  SlotRing slots_;
  std::vector<std::size_t> arrays_;  // of `slots_`; the headers are filled, too
  std::uint64_t chunk_slots_;
  std::uint64_t left_;      // chunks
  std::vector<bool> done_;  // by chunk
};

}  // namespace brigade
