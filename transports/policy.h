#pragma once

// The protocol's interface to the machine, as a template parameter: atomic words,
// a futex, a barrier in all processes, fault points. SystemPolicy is the real one;
// tests replace it by a scheduler and drive the same code step by step. No fences
// of a single thread are used anywhere: GCC's ThreadSanitizer cannot see them.

#include <atomic>
#include <cstdint>

#include "transports/fault_points.h"

namespace brigade {

struct SystemPolicy {
  template <class T>
  using Atomic = std::atomic<T>;

  static void point(FaultPoint p) { fault_point(p); }
  /// Sleeps while `word` holds `expected`, until woken; may return early. Works between processes
  /// (not FUTEX_PRIVATE).
  static void sleep(std::atomic<std::uint32_t>& word, std::uint32_t expected);
  /// The same, for `ns` nanoseconds at most.
  static void sleep_for(std::atomic<std::uint32_t>& word, std::uint32_t expected, std::int64_t ns);
  static void wake(std::atomic<std::uint32_t>& word);
  static void relax();  ///< one step of a spin

  /// Lets barriers of other processes reach this one, as long as it lives (an exec ends it). False
  /// where the kernel, or a filter of system calls, does not let it.
  static bool join_barriers();
  /// A full barrier in every thread, of this and of every process that has joined, that runs now;
  /// one that does not run passes a barrier when it is switched.
  static void barrier_everywhere();
  /// The partner of barrier_everywhere() costs nothing: the compiler keeps the order of what stands
  /// before and after it.
  static void keep_order() { std::atomic_signal_fence(std::memory_order_seq_cst); }
};

static_assert(std::atomic<std::uint64_t>::is_always_lock_free, "shared words must be lock-free");
static_assert(std::atomic<std::uint32_t>::is_always_lock_free, "the futex word must be lock-free");
static_assert(sizeof(std::atomic<std::uint32_t>) == 4, "the kernel waits on 32 bits");

}  // namespace brigade
