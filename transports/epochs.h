#pragma once

// Where epochs end, of any domain. Most have epochs of one length, which is known once their
// sources have opened. A domain whose source finds out as it goes (a stream, a stage that numbers
// its outputs freely) records each end; one that is derived from it follows.

#include <cstdint>

#include "transports/layout.h"

namespace brigade {

/// A view of one domain; any process, any thread. Ends only become known, they never change.
template <class P>
class DomainEpochs {
 public:
  DomainEpochs() = default;
  DomainEpochs(const Control<P>& control, int domain)
      : period_(&control.domains[static_cast<std::size_t>(domain)]->epoch_period.value),
        recorded_(control.epoch_ends[static_cast<std::size_t>(domain)]) {
    for (const DerivedDomain& derived : control.shape->derived) {
      if (derived.domain != domain) continue;
      recorded_ = control.epoch_ends[static_cast<std::size_t>(derived.above)];
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

  /// How many epochs have ended at `low` or before it, as far as is known. `known`: of them, as
  /// many as the caller has seen.
  std::uint64_t passed(std::uint64_t low, std::uint64_t known = 0) const {
    if (have_one_length()) {
      const std::uint64_t period = period_->load(std::memory_order_acquire);
      return period == 0 ? 0 : low / period;
    }
    while (end(known) != kNever && end(known) <= low) ++known;
    return known;
  }

 private:
  const typename P::template Atomic<std::uint64_t>* period_ = nullptr;
  NumberList<P> recorded_;
  std::uint64_t fan_out_ = 1;
};

}  // namespace brigade
