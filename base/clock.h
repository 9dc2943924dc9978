#pragma once

// Time that only moves forward (CLOCK_MONOTONIC: the same for every process of the
// machine), in nanoseconds. Code whose behavior depends on time takes a Clock, so
// that a test can drive it with a FakeClock (tests/support/fake_clock.h); code that
// only measures calls monotonic_ns(). Also the time of day, for files and people.

#include <chrono>
#include <cstdint>
#include <ctime>

namespace brigade {

inline std::int64_t monotonic_ns() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

/// Since 1970, UTC (CLOCK_REALTIME, by which files have their times).
inline std::int64_t utc_ns() {
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  return std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
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
