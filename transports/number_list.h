#pragma once

// A list of numbers in shared memory, which only grows: the samples a stage skipped, those that are
// in quarantine, or where the epochs of an index space of unknown length ended. An entry is written
// by one store or compare-and-swap, so that a process killed anywhere leaves it whole, and never
// changes. Lists are short; looking a number up is a scan.

#include <cstdint>

#include "transports/limits.h"
#include "transports/policy.h"

namespace brigade {

template <class P>
class NumberList {
 public:
  using Word = typename P::template Atomic<std::uint64_t>;

  NumberList() = default;
  NumberList(Word* entries, std::uint64_t capacity) : entries_(entries), capacity_(capacity) {}

  std::uint64_t capacity() const { return capacity_; }
  bool empty() const { return at(0) == kNever; }

  /// kNever: entry `i` is not written yet, or there is none.
  std::uint64_t at(std::uint64_t i) const {
    // seq_cst: part of a sleeper's "look again" (doorbell.h), as the index space's end is.
    return i < capacity_ ? entries_[i].load(std::memory_order_seq_cst) - 1 : kNever;
  }

  /// Entries that are written. A scan from `known`, so many of which the caller has seen.
  std::uint64_t size(std::uint64_t known = 0) const {
    while (at(known) != kNever) ++known;
    return known;
  }

  bool contains(std::uint64_t number) const {
    for (std::uint64_t i = 0; i < capacity_; ++i) {
      const std::uint64_t entry = at(i);
      if (entry == number || entry == kNever) return entry == number;
    }
    return false;
  }

  /// Adds the number unless it is there; any process. False: the list is full.
  bool append(std::uint64_t number) {
    for (std::uint64_t i = 0; i < capacity_; ++i) {
      std::uint64_t entry = entries_[i].load(std::memory_order_acquire);
      if (entry == kFree &&
          entries_[i].compare_exchange_strong(entry, number + 1, std::memory_order_acq_rel)) {
        return true;
      }
      if (entry == number + 1) return true;
    }
    return false;
  }

  /// Writes entry `i`, those before it being written: of a list with one writer. Again only with
  /// the same number, by a successor.
  void record(std::uint64_t i, std::uint64_t number) {
    entries_[i].store(number + 1, std::memory_order_seq_cst);
  }

 private:
  static constexpr std::uint64_t kFree = 0;  // numbers are stored plus one

  Word* entries_ = nullptr;
  std::uint64_t capacity_ = 0;
};

}  // namespace brigade
