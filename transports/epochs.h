#pragma once

// Where epochs end, of any index space. Most have epochs of one length, which
// is known once their sources have opened. An index space of unknown length (a
// stream, a flat_map stage) records each end; a derived index space follows it.

#include <cstdint>

#include "transports/layout.h"

namespace brigade {

/// A view of one index space; any process, any thread. Ends only become known, they never change.
template <class P>
class IndexSpaceEpochs {
 public:
  IndexSpaceEpochs() = default;
  IndexSpaceEpochs(const Control<P>& control, IndexSpaceNumber index_space)
      : period_(&control.index_spaces[index_space]->epoch_period.value),
        recorded_(control.epoch_ends[index_space]) {
    for (const DerivedIndexSpace& derived : control.shape->derived) {
      if (derived.index_space != index_space) continue;
      recorded_ = control.epoch_ends[derived.above];
      fan_out_ = derived.fan_out;
    }
  }

  /// They have, and it is known in advance.
  bool have_one_length() const { return recorded_.capacity() == 0; }

  /// The number past the last one of epoch `epoch`; kNever while that is not known.
  std::uint64_t end(std::uint64_t epoch) const {
    if (!have_one_length()) {
      const std::uint64_t end = recorded_.at(epoch);
      return end == kNever ? kNever : end * fan_out_;
    }
    const std::uint64_t period = period_->load(std::memory_order_acquire);
    return period == 0 || epoch >= kNever / period ? kNever : (epoch + 1) * period;
  }

  /// How many epochs have ended at `level` or before it, as far as is known. `known`: of them, as
  /// many as the caller has seen.
  std::uint64_t passed(std::uint64_t level, std::uint64_t known = 0) const {
    if (have_one_length()) {
      const std::uint64_t period = period_->load(std::memory_order_acquire);
      return period == 0 ? 0 : level / period;
    }
    while (end(known) != kNever && end(known) <= level) ++known;
    return known;
  }

 private:
  const typename P::template Atomic<std::uint64_t>* period_ = nullptr;
  NumberList<P> recorded_;
  std::uint64_t fan_out_ = 1;
};

}  // namespace brigade
