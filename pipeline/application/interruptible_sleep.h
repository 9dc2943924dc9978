#pragma once

// The sleep of a program's thread in a blocking call: whenever a signal ends the sleep, and
// about every 100 ms, it asks the program whether the call should return (an interpreter
// runs its signal handlers there). One object for each call, used by its thread.

#include <atomic>
#include <cstdint>
#include <functional>

namespace brigade {

/// Asked on the thread that waits; yes: its call fails, and everything is as it was before.
using Interrupted = std::function<bool()>;

inline constexpr std::int64_t kInterruptedAskedEveryNs = 100'000'000;

class InterruptibleSleep {
 public:
  /// `asked` outlives it; empty: nothing interrupts. `never`: the answer is yes before it sleeps.
  explicit InterruptibleSleep(const Interrupted& asked, bool never = false)
      : asked_(asked), never_(never) {}

  /// As SystemPolicy::sleep(); not at all once the answer was yes.
  void operator()(std::atomic<std::uint32_t>& word, std::uint32_t expected);
  /// At most until `until_ns`, on the clock of monotonic_ns().
  void until(std::atomic<std::uint32_t>& word, std::uint32_t expected, std::int64_t until_ns);

  bool interrupted() const { return interrupted_; }

 private:
  const Interrupted& asked_;
  const bool never_;
  std::int64_t ask_at_ns_ = 0;  // 0: it has not slept yet
  bool interrupted_ = false;
};

}  // namespace brigade
