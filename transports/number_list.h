#pragma once

// An append-only list of sample numbers in shared memory: the samples a stage skipped, or that are
// in quarantine. An entry is taken and written by one compare-and-swap, so that a process killed
// anywhere leaves it whole. Lists are short; looking one up is a scan.

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
  bool empty() const {
    return capacity_ == 0 || entries_[0].load(std::memory_order_acquire) == kFree;
  }

  bool contains(std::uint64_t number) const {
    for (std::uint64_t i = 0; i < capacity_; ++i) {
      const std::uint64_t entry = entries_[i].load(std::memory_order_acquire);
      if (entry == kFree) return false;
      if (entry == number + 1) return true;
    }
    return false;
  }

  std::uint64_t size() const {
    std::uint64_t count = 0;
    while (count < capacity_ && entries_[count].load(std::memory_order_acquire) != kFree) ++count;
    return count;
  }

  std::uint64_t at(std::uint64_t i) const {
    return entries_[i].load(std::memory_order_acquire) - 1;
  }

  /// Adds the number unless it is there. False: the list is full.
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

 private:
  static constexpr std::uint64_t kFree = 0;  // numbers are stored plus one

  Word* entries_ = nullptr;
  std::uint64_t capacity_ = 0;
};

}  // namespace brigade
