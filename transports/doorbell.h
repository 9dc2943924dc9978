#pragma once

// Sleeping and waking between processes. Each replica has one doorbell, a futex word; each
// watermark has a bitmap of the replicas that sleep on it.
//
//   a sleeper   says until where it sleeps, reads its doorbell, sets its bit, looks at the
//               watermark again, and only then sleeps
//   a finisher  moves the watermark, looks at the bitmap, and of those who sleep until there
//               clears the bit and rings
//
// Therefore no sleeper is rung twice for one sleep, however long it waits for a core. A process
// that clears a bit rings after it, and the doorbell was read before the bit was set: a sleeper
// whose bit is cleared has been rung since, or will be (by the repair, if the finisher dies).
//
// One of the two must see the other: a store and a load of another word behind it, on both sides,
// which no processor keeps in order by itself. One side has to pay for that order, which is
// chosen once for a graph, before any worker starts (a graph of both kinds would lose wake-ups):
//
//   by_sleeper   A sleeper, which has time, makes every process of the graph that runs at this
//                moment pass a full barrier (membarrier(2)) between its bit and its look. A
//                finisher that was before it has its watermark seen; one that was after it sees the
//                bit. A finish costs a plain store and a plain load.
//   by_finisher  A finisher moves the watermark by a seq_cst read-modify-write and looks by a
//                seq_cst load, which pairs with the sleeper's seq_cst bit and look.
//
// The first costs a sleep 0.5 to 20 us, by how fast the machine interrupts its cores, and every
// running process an interrupt; the second costs a finish tens of nanoseconds. It is by_sleeper
// where one replica finishes tasks of a few samples in order, if the kernel has membarrier, and
// by_finisher for all other graphs (docs/decisions/wake_ups.md).

#include <cstdint>

#include "transports/limits.h"
#include "transports/policy.h"
#include "transports/shape.h"

namespace brigade {

/// Who pays for the order of a watermark and the bitmap beside it.
enum class WakeOrder : std::uint64_t { by_finisher = 0, by_sleeper = 1 };

/// The creator of a control segment decides, for itself and for every process that it starts.
template <class P>
WakeOrder choose_wake_order(const SharedShape& shape) {
  bool small = false;
  for (const StageShape& stage : shape.stages) {
    for (const QueueShape& queue : stage.queues)
      small |= queue.in_order && queue.task <= kSmallTask;
  }
  return small && P::join_barriers() ? WakeOrder::by_sleeper : WakeOrder::by_finisher;
}

/// The futex of one replica, and what it sleeps for.
template <class P>
struct alignas(kCacheLineBytes) Doorbell {
  typename P::template Atomic<std::uint32_t> rings{0};
  /// While its bit is set: the watermark that lets it go on; 1: any movement may; 0: any task that
  /// is DONE may (attempt.h). Stored before the bit.
  typename P::template Atomic<std::uint64_t> until{0};
};

/// Who sleeps on a watermark: bit r is replica r of the graph. Stale bits of the dead cost a system
/// call, never a wake-up; the supervisor clears them.
template <class P>
struct alignas(kCacheLineBytes) Waiters {
  typename P::template Atomic<std::uint64_t> bits[kWaiterWords]{};
};

/// Whoever rings after it has stored what a sleeper looks for needs nothing else: of doorbell and
/// look, the look comes second, and the futex compares.
template <class P>
void ring(Doorbell<P>& doorbell) {
  doorbell.rings.fetch_add(1, std::memory_order_seq_cst);
  P::wake(doorbell.rings);
}

template <class P>
void set_waiter(Waiters<P>& waiters, int replica) {
  waiters.bits[replica / 64].fetch_or(std::uint64_t{1} << (replica % 64),
                                      std::memory_order_seq_cst);
}

/// False: somebody else has.
template <class P>
bool clear_waiter(Waiters<P>& waiters, int replica) {
  const std::uint64_t bit = std::uint64_t{1} << (replica % 64);
  return (waiters.bits[replica / 64].fetch_and(~bit, std::memory_order_seq_cst) & bit) != 0;
}

/// A finisher's way to the sleepers. Process-private.
template <class P>
class Waker {
 public:
  Waker() = default;
  /// `words`: of a bitmap, as many as the graph's replicas need.
  Waker(Doorbell<P>* doorbells, int words, WakeOrder order)
      : doorbells_(doorbells), words_(words), order_(order) {}

  WakeOrder order() const { return order_; }

  /// After its caller has moved the watermark to `level` (0: has stored a DONE), as order() has it.
  void moved(Waiters<P>& waiters, std::uint64_t level) const {
    if (order_ == WakeOrder::by_sleeper) P::keep_order();
    for (int word = 0; word < words_; ++word) {
      if (glance(waiters.bits[word]) != 0) [[unlikely]]
        wake(waiters, word, level);
    }
  }

 private:
  using Bits = typename P::template Atomic<std::uint64_t>;

  std::uint64_t glance(const Bits& bits) const {
    return order_ == WakeOrder::by_sleeper ? bits.load(std::memory_order_relaxed)
                                           : bits.load(std::memory_order_seq_cst);
  }

  void wake(Waiters<P>& waiters, int word, std::uint64_t level) const {
    P::point(FaultPoint::wake_before_load);
    // Pairs with set_waiter(): what it sleeps for was stored before its bit.
    std::uint64_t bits = waiters.bits[word].load(std::memory_order_acquire);
    while (bits != 0) {
      const int replica = word * 64 + __builtin_ctzll(bits);
      Doorbell<P>& doorbell = doorbells_[replica];
      bits &= bits - 1;
      if (doorbell.until.load(std::memory_order_relaxed) > level) continue;
      if (!clear_waiter(waiters, replica)) continue;
      P::point(FaultPoint::wake_before_doorbell);
      ring(doorbell);
      P::point(FaultPoint::wake_after_doorbell);
    }
  }

  Doorbell<P>* doorbells_ = nullptr;
  int words_ = 0;
  WakeOrder order_ = WakeOrder::by_finisher;
};

}  // namespace brigade
