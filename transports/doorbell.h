#pragma once

// Sleeping and waking between processes. Each replica has one bell, a futex word; each low-water
// mark has a bitmap of the replicas that sleep on it.
//
//   a sleeper   says until where it sleeps, sets its bit, reads its bell, looks at the mark again,
//               and only then sleeps
//   a finisher  moves the mark, looks at the bitmap, and rings who sleeps until there
//
// One of the two must see the other: a store and a load of another word behind it, on both sides,
// which no processor keeps in order by itself. One of them has to pay for that order, and it is
// decided once for a graph, before any worker starts (a graph of both kinds would lose wake-ups):
//
//   by_sleeper   A sleeper, which has time, makes every process of the graph that runs at this
//                moment pass a full barrier (membarrier(2)) between its bit and its look. A
//                finisher that was before it has its mark seen; one that was after it sees the bit.
//                So a finish costs a plain store and a plain load.
//   by_finisher  Where the kernel has no membarrier: a finisher moves the mark by a seq_cst
//                read-modify-write and looks by a seq_cst load, which pairs with the sleeper's
//                seq_cst bit and look.

#include <cstdint>

#include "transports/limits.h"
#include "transports/policy.h"

namespace brigade {

/// Who pays for the order of a mark and the bitmap beside it.
enum class WakeOrder : std::uint64_t { by_finisher = 0, by_sleeper = 1 };

/// The creator of a control segment decides, for itself and for every process that it starts.
template <class P>
WakeOrder choose_wake_order() {
  return P::join_barriers() ? WakeOrder::by_sleeper : WakeOrder::by_finisher;
}

/// The futex of one replica, and what it sleeps for.
template <class P>
struct alignas(kCacheLineBytes) Bell {
  typename P::template Atomic<std::uint32_t> rings{0};
  /// While its bit is set: the mark that lets it go on; 0: any movement may. Stored before the bit.
  typename P::template Atomic<std::uint64_t> until{0};
};

/// Who sleeps on a mark: bit r is replica r of the graph. Stale bits of the dead cost a system
/// call, never a wake-up; the supervisor clears them.
template <class P>
struct alignas(kCacheLineBytes) Waiters {
  typename P::template Atomic<std::uint64_t> bits[kWaiterWords]{};
};

/// Whoever rings after it has stored what a sleeper looks for needs nothing else: of bell and look,
/// the look comes second, and the futex compares.
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

/// A finisher's way to the sleepers. Process-private.
template <class P>
class Waker {
 public:
  Waker() = default;
  /// `words`: of a bitmap, as many as the graph's replicas need.
  Waker(Bell<P>* bells, int words, WakeOrder order) : bells_(bells), words_(words), order_(order) {}

  WakeOrder order() const { return order_; }

  /// After its caller has moved the mark of these waiters to `low`, in the way of order().
  void moved(Waiters<P>& waiters, std::uint64_t low) const {
    if (order_ == WakeOrder::by_sleeper) P::keep_order();
    for (int word = 0; word < words_; ++word) {
      if (glance(waiters.bits[word]) != 0) [[unlikely]]
        wake(waiters.bits[word], word, low);
    }
  }

 private:
  using Bits = typename P::template Atomic<std::uint64_t>;

  std::uint64_t glance(const Bits& bits) const {
    return order_ == WakeOrder::by_sleeper ? bits.load(std::memory_order_relaxed)
                                           : bits.load(std::memory_order_seq_cst);
  }

  void wake(const Bits& waiting, int word, std::uint64_t low) const {
    P::point(FaultPoint::wake_before_load);
    // Pairs with set_waiter(): what it sleeps for was stored before its bit.
    std::uint64_t bits = waiting.load(std::memory_order_acquire);
    while (bits != 0) {
      Bell<P>& bell = bells_[word * 64 + __builtin_ctzll(bits)];
      bits &= bits - 1;
      if (bell.until.load(std::memory_order_relaxed) > low) continue;
      P::point(FaultPoint::wake_before_bell);
      ring(bell);
      P::point(FaultPoint::wake_after_bell);
    }
  }

  Bell<P>* bells_ = nullptr;
  int words_ = 0;
  WakeOrder order_ = WakeOrder::by_finisher;
};

}  // namespace brigade
