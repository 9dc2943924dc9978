#pragma once

// Where the epochs of a domain of unknown length ended: one number per epoch, written once, in
// order, by the domain's source. An epoch may be empty: then it ends where the one before it did.

#include <cstdint>

#include "transports/limits.h"
#include "transports/policy.h"

namespace brigade {

template <class P>
class EpochList {
 public:
  using Word = typename P::template Atomic<std::uint64_t>;

  EpochList() = default;
  EpochList(Word* entries, std::uint64_t capacity) : entries_(entries), capacity_(capacity) {}

  /// Epochs of the domain; 0: it records none, they all have one length.
  std::uint64_t capacity() const { return capacity_; }

  /// The number past epoch `epoch`, a multiple of L; kNever while it is not known.
  std::uint64_t end(std::uint64_t epoch) const {
    if (epoch >= capacity_) return kNever;
    // seq_cst: part of a sleeper's "look again" (doorbell.h), as the domain's end is.
    const std::uint64_t entry = entries_[epoch].load(std::memory_order_seq_cst);
    return entry == kUnknown ? kNever : entry - 1;
  }

  /// Epochs that have ended. A scan from `known`, which the caller has seen to have ended.
  std::uint64_t count(std::uint64_t known = 0) const {
    while (end(known) != kNever) ++known;
    return known;
  }

  /// The source only, before the rows up to `number` are published.
  void record(std::uint64_t epoch, std::uint64_t number) {
    entries_[epoch].store(number + 1, std::memory_order_seq_cst);
  }

 private:
  static constexpr std::uint64_t kUnknown = 0;  // numbers are stored plus one

  Word* entries_ = nullptr;
  std::uint64_t capacity_ = 0;
};

}  // namespace brigade
