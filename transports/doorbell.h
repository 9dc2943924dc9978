#pragma once

// Sleeping and waking between processes. Each replica has one bell, a futex word; each low-water
// mark has a bitmap of the replicas that sleep on it. A sleeper sets its bit, reads its bell, looks
// again, and only then sleeps; whoever moved the mark looks at the bitmap afterwards, by a
// read-modify-write. Two of those on one word have an order: if the sleeper's is first, the other
// sees its bit; if it is second, it acquires the other's move of the mark before it looks again.

#include <cstdint>

#include "transports/limits.h"
#include "transports/policy.h"

namespace brigade {

/// The futex of one replica.
template <class P>
struct alignas(kCacheLineBytes) Bell {
  typename P::template Atomic<std::uint32_t> rings{0};
};

/// Who sleeps on a mark: bit r is replica r of the graph. Stale bits of the dead cost a system
/// call, never a wake-up; the supervisor clears them.
template <class P>
struct alignas(kCacheLineBytes) Waiters {
  typename P::template Atomic<std::uint64_t> bits[kWaiterWords]{};
};

template <class P>
void ring(Bell<P>& bell) {
  bell.rings.fetch_add(1, std::memory_order_seq_cst);
  P::wake(bell.rings);
}

template <class P>
void set_waiter(Waiters<P>& waiters, int replica) {
  waiters.bits[replica / 64].fetch_or(std::uint64_t{1} << (replica % 64),
                                      std::memory_order_seq_cst);
}

template <class P>
void clear_waiter(Waiters<P>& waiters, int replica) {
  waiters.bits[replica / 64].fetch_and(~(std::uint64_t{1} << (replica % 64)),
                                       std::memory_order_seq_cst);
}

/// Rings every sleeper of a mark. `words`: how many bitmap words the graph's replicas need.
template <class P>
void wake_waiters(Waiters<P>& waiters, Bell<P>* bells, int words) {
  P::point(FaultPoint::wake_before_load);
  for (int word = 0; word < words; ++word) {
    std::uint64_t bits = waiters.bits[word].fetch_or(0, std::memory_order_seq_cst);
    while (bits != 0) {
      const int replica = word * 64 + __builtin_ctzll(bits);
      bits &= bits - 1;
      P::point(FaultPoint::wake_before_bell);
      ring(bells[replica]);
      P::point(FaultPoint::wake_after_bell);
    }
  }
}

}  // namespace brigade
