#pragma once

// A mark that a lane depends on, as one replica has seen it: of an input, that its rows are there;
// of a reader, that it has done with the rows of a round before. Process-private.

#include <cstdint>

#include "transports/attempt.h"

namespace brigade {

template <class P>
struct Neighbour {
  Mark<P>* mark = nullptr;
  std::uint64_t scale = 1;   ///< of the mark: an input's fan-out; readers' marks count rows already
  std::uint64_t offset = 0;  ///< added to it: 0 for an input, M for a reader
  std::uint64_t reached = 0;  ///< cached; a mark only grows, so an old value is merely pessimistic

  /// Whether it has come to row `last`.
  bool has(std::uint64_t last) {
    if (reached >= last) return true;
    // Pairs with the CAS (or store) of the neighbour's mark: its rows are visible, its reads over.
    reached = mark->low.value.load(std::memory_order_seq_cst) * scale + offset;
    return reached >= last;
  }

  /// It has not: what to wait for.
  Attempt<P> blocks(std::uint64_t last, Cause cause) const {
    return {Look::blocked, 0, mark, cause, (last - offset + scale - 1) / scale};
  }
};

}  // namespace brigade
