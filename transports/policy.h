#pragma once

// What the protocol needs from the machine, as a template parameter: atomic words, a futex, fault
// points. SystemPolicy is the real thing; tests put a scheduler in its place and drive the very
// same code step by step. No fences are used anywhere: GCC's ThreadSanitizer cannot see them.

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
};

static_assert(std::atomic<std::uint64_t>::is_always_lock_free, "shared words must be lock-free");
static_assert(std::atomic<std::uint32_t>::is_always_lock_free, "the futex word must be lock-free");
static_assert(sizeof(std::atomic<std::uint32_t>) == 4, "the kernel waits on 32 bits");

}  // namespace brigade
