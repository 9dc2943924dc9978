#pragma once

// Sleeping and waking between processes. Each replica has one doorbell, a futex word; each
// watermark has a bitmap of the replicas that sleep on it.
//
//   a sleeper   says until where it sleeps, reads its doorbell, sets its bit, looks at the
//               watermark again, and only then sleeps
//   a finisher  moves the watermark, looks at the bitmap, and of those who sleep until there
//               clears the bit and rings
//
// So nobody is rung twice for one sleep, however long it takes until it has a core. Whoever clears
// a bit rings after it, and the doorbell was read before the bit was set: a sleeper whose bit has
// gone has been rung since, or will be (where the finisher dies in between, by its repair).
//
// Of several replicas that share their stage's tasks a finisher rings one, who hands it on
// (FellowSleepers in neighbour.h).
//
// One of the two must see the other: a store and a load of another word behind it, on both sides,
// which no processor keeps in order by itself. One of them has to pay for that order, and it is
// decided once for a graph, before any worker starts (a graph of both kinds would lose wake-ups):
//
//   by_sleeper   A sleeper, which has time, makes every process of the graph that runs at this
//                moment pass a full barrier (membarrier(2)) between its bit and its look. A
//                finisher that was before it has its watermark seen; one that was after it sees the
//                bit. So a finish costs a plain store and a plain load.
//   by_finisher  Where the kernel has no membarrier: a finisher moves the watermark by a seq_cst
//                read-modify-write and looks by a seq_cst load, which pairs with the sleeper's
//                seq_cst bit and look.

#include <cstdint>

#include "transports/limits.h"
#include "transports/policy.h"
#include "transports/shape.h"

namespace brigade {

/// Who pays for the order of a watermark and the bitmap beside it.
enum class WakeOrder : std::uint64_t { by_finisher = 0, by_sleeper = 1 };

/// The creator of a control segment decides, for itself and for every process that it starts.
template <class P>
WakeOrder choose_wake_order() {
  return P::join_barriers() ? WakeOrder::by_sleeper : WakeOrder::by_finisher;
}

/// The futex of one replica, and what it sleeps for.
template <class P>
struct alignas(kCacheLineBytes) Doorbell {
  typename P::template Atomic<std::uint32_t> rings{0};
  /// While its bit is set: the watermark that lets it go on; 0: any movement may. Stored before the
  /// bit.
  typename P::template Atomic<std::uint64_t> until{0};
};

/// Who sleeps on a watermark: bit r is replica r of the graph. A ring for a stale bit of the dead
/// reaches nobody: the supervisor clears them, and rings everybody afterwards.
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

template <class P>
bool is_waiter(const Waiters<P>& waiters, int replica) {
  return (waiters.bits[replica / 64].load(std::memory_order_seq_cst) >> (replica % 64) & 1) != 0;
}

/// The bits of replicas first .. past - 1 in one word of a bitmap.
inline std::uint64_t waiter_bits(int first, int past, int word) {
  const auto below = [word](int replica) {
    const int bits = replica - word * 64;
    if (bits <= 0) return std::uint64_t{0};
    return bits >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << bits) - 1;
  };
  return below(past) & ~below(first);
}

/// A finisher's way to the sleepers. Process-private.
template <class P>
class Waker {
 public:
  Waker() = default;
  Waker(Doorbell<P>* doorbells, const SharedShape& shape, WakeOrder order)
      : doorbells_(doorbells), shape_(&shape), words_((shape.replicas + 63) / 64), order_(order) {}

  WakeOrder order() const { return order_; }

  /// After its caller has moved the watermark of these waiters to `level`, in the way of order().
  void moved(Waiters<P>& waiters, std::uint64_t level) const {
    if (order_ == WakeOrder::by_sleeper) P::keep_order();
    for (int word = 0; word < words_; ++word) {
      if (glance(waiters.bits[word]) != 0) [[unlikely]]
        wake(waiters, word, level);
    }
  }

  /// Whether replicas of the stage sleep here. seq_cst: who sleeps on what has moved since it
  /// looked is seen here.
  bool any_sleeps(const Waiters<P>& waiters, const StageShape& stage) const {
    for (int word = stage.first_replica / 64; word * 64 < stage.past_replicas(); ++word) {
      const std::uint64_t bits = waiters.bits[word].load(std::memory_order_seq_cst);
      if ((bits & waiter_bits(stage.first_replica, stage.past_replicas(), word)) != 0) return true;
    }
    return false;
  }

  /// Rings one of the stage's replicas that sleep here, until whatever level. False: none does.
  bool ring_one(Waiters<P>& waiters, const StageShape& stage) const {
    for (int word = stage.first_replica / 64; word * 64 < stage.past_replicas(); ++word) {
      std::uint64_t bits = waiters.bits[word].load(std::memory_order_seq_cst) &
                           waiter_bits(stage.first_replica, stage.past_replicas(), word);
      for (; bits != 0; bits &= bits - 1)
        if (clear_and_ring(waiters, word * 64 + __builtin_ctzll(bits))) return true;
    }
    return false;
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
      bits &= bits - 1;
      if (doorbells_[replica].until.load(std::memory_order_relaxed) > level) continue;
      if (!clear_and_ring(waiters, replica)) continue;
      const StageShape& stage = shape_->stage_of(replica);
      if (stage.shares_tasks())
        bits &= ~waiter_bits(stage.first_replica, stage.past_replicas(), word);
    }
  }

  /// False: somebody else has, or it no longer sleeps here.
  bool clear_and_ring(Waiters<P>& waiters, int replica) const {
    if (!clear_waiter(waiters, replica)) return false;
    P::point(FaultPoint::wake_before_doorbell);
    ring(doorbells_[replica]);
    P::point(FaultPoint::wake_after_doorbell);
    return true;
  }

  Doorbell<P>* doorbells_ = nullptr;
  const SharedShape* shape_ = nullptr;
  int words_ = 0;
  WakeOrder order_ = WakeOrder::by_finisher;
};

}  // namespace brigade
