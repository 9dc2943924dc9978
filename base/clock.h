#pragma once

// Time that only moves forward (CLOCK_MONOTONIC: the same for every process of the machine), in
// nanoseconds. Code whose behaviour depends on time takes a Clock, so that a test can drive it
// with a FakeClock (tests/support/fake_clock.h); code that only measures calls monotonic_ns().

#include <chrono>
#include <cstdint>

namespace brigade {

inline std::int64_t monotonic_ns() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

/// Callable from any thread.
class Clock {
 public:
  virtual ~Clock() = default;
  [[nodiscard]] virtual std::int64_t now_ns() const = 0;
};

class SystemClock final : public Clock {
 public:
  [[nodiscard]] std::int64_t now_ns() const override { return monotonic_ns(); }
};

}  // namespace brigade
