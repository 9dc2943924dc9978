#pragma once

// A watermark that a task queue depends on, as one replica has seen it: of an input, that its slots
// are there; of a reader, that it has done with the slots of a round before. Process-private.

#include <cstdint>

#include "transports/attempt.h"

namespace brigade {

template <class P>
struct Neighbour {
  Watermark<P>* watermark = nullptr;
  std::uint64_t scale =
      1;  ///< of the watermark: an input's fan-out; readers' watermarks count slots already
  std::uint64_t offset = 0;  ///< added to it: 0 for an input, M for a reader
  std::uint64_t reached =
      0;  ///< cached; a watermark only grows, so an old value is merely pessimistic

  /// Whether it has come to slot `last`.
  bool has(std::uint64_t last) {
    if (reached >= last) return true;
    // Pairs with the CAS (or store) of the neighbour's watermark: its slots are visible, its reads
    // over.
    reached = watermark->level.value.load(std::memory_order_seq_cst) * scale + offset;
    return reached >= last;
  }

  /// It has not: what to wait for.
  Attempt<P> blocks(std::uint64_t last, Cause cause) const {
    return {Look::blocked, 0, watermark, cause, (last - offset + scale - 1) / scale};
  }
};

}  // namespace brigade
