#pragma once

// The policy that lets tests drive the real templates step by step: the same code, other words.

#include <atomic>
#include <cstdint>

#include "tests/transports/stepping/fibers.h"

namespace brigade::stepping {

/// Mistakes that the machine could make, were an order in the code weaker: negative controls.
struct Mistakes {
  bool finish_is_a_plain_store = false;  ///< DONE without seq_cst
  bool waiter_bits_are_delayed = false;  ///< the sleeper's bit without seq_cst
  bool no_barrier_everywhere = false;    ///< the sleeper looks again without it
  bool order_is_not_kept = false;      ///< a finisher looks for sleepers, then moves its watermark
  bool claims_are_not_atomic = false;  ///< look, then store
  bool watermarks_are_not_atomic = false;  ///< advance() without compare-and-swap: the same
  // Of the supervisor:
  bool restarts_before_repair = false;  ///< the successor lives before the repair
  bool repairs_the_living = false;      ///< somebody who only stands still
  bool quarantines_late = false;        ///< after the tasks are open again
  bool of_supervisor() const { return restarts_before_repair || repairs_the_living; }
};

struct SteppedPolicy {
  inline static Mistakes mistakes;

  template <class T>
  class Atomic;

  static void point(FaultPoint point) {
    if (Fibers::active != nullptr) Fibers::active->passed(point);
  }
  static void relax() {}
  static void keep_order() {
    if (Fibers::active != nullptr && !mistakes.order_is_not_kept) Fibers::active->keep_order();
  }
  static void barrier_everywhere() {
    if (Fibers::active == nullptr || mistakes.no_barrier_everywhere) return;
    Fibers::active->step();
    Fibers::active->drain_all();
  }
  static void sleep(Atomic<std::uint32_t>& word, std::uint32_t expected);
  static void wake(Atomic<std::uint32_t>& word);
};

/// A shared word, kept in 64 bits whatever T is; each access is one step.
template <class T>
class SteppedPolicy::Atomic {
 public:
  Atomic(T value = 0) : value_(value) {}  // NOLINT: implicit, as std::atomic
  Atomic(const Atomic&) = delete;

  T load(std::memory_order) const {
    step();
    return look();
  }
  void store(T value, std::memory_order order) {
    step();
    put(value, order != std::memory_order_seq_cst);
  }
  T exchange(T value, std::memory_order) {
    step();
    if (SteppedPolicy::mistakes.finish_is_a_plain_store) {
      const T before = look();
      put(value, true);
      return before;
    }
    return change([value](T) { return value; });
  }
  bool compare_exchange_strong(T& expected, T desired, std::memory_order order) {
    step();
    drain();
    const T before = look();
    if (before != expected) {
      expected = before;
      return false;
    }
    const Mistakes& mistakes = SteppedPolicy::mistakes;
    const bool claim = order == std::memory_order_acq_rel;  // watermarks are moved with seq_cst
    if (claim ? mistakes.claims_are_not_atomic : mistakes.watermarks_are_not_atomic) step();
    put(desired, false);
    return true;
  }
  T fetch_add(T value, std::memory_order) {
    step();
    return change([value](T before) { return static_cast<T>(before + value); });
  }
  T fetch_or(T value, std::memory_order) {
    step();
    if (SteppedPolicy::mistakes.waiter_bits_are_delayed) {
      const T before = look();
      put(before | value, true);
      return before;
    }
    return change([value](T before) { return before | value; });
  }
  T fetch_and(T value, std::memory_order) {
    step();
    return change([value](T before) { return before & value; });
  }

  /// For invariants: what is in memory, without a step.
  T raw() const { return static_cast<T>(value_); }

 private:
  static void step() {
    if (Fibers::active != nullptr) Fibers::active->step();
  }
  static void drain() {
    if (Fibers::active != nullptr) Fibers::active->drain();
  }
  T look() const {
    return static_cast<T>(Fibers::active != nullptr ? Fibers::active->load(&value_) : value_);
  }
  void put(T value, bool buffered) {
    if (Fibers::active != nullptr) {
      Fibers::active->store(&value_, value, buffered);
    } else {
      value_ = value;
    }
  }
  template <class Change>
  T change(const Change& to) {
    drain();
    const T before = look();
    put(to(before), false);
    return before;
  }

  std::uint64_t value_;
};

inline void SteppedPolicy::sleep(Atomic<std::uint32_t>& word, std::uint32_t expected) {
  Fibers::active->step();
  Fibers::active->drain();
  if (word.raw() == expected) Fibers::active->sleep_on(&word);
}

inline void SteppedPolicy::wake(Atomic<std::uint32_t>& word) {
  if (Fibers::active == nullptr) return;  // set up, before anybody runs
  Fibers::active->step();
  Fibers::active->drain();
  Fibers::active->wake_all(&word);
}

}  // namespace brigade::stepping
