#pragma once

// A Clock that stands still until a test moves it. Any thread.

#include <atomic>
#include <chrono>
#include <cstdint>

#include "base/clock.h"

namespace brigade {

class FakeClock final : public Clock {
 public:
  explicit FakeClock(std::int64_t start_ns = 0) : now_ns_(start_ns) {}

  [[nodiscard]] std::int64_t now_ns() const override { return now_ns_.load(); }

  void advance(std::chrono::nanoseconds step) { now_ns_ += step.count(); }

 private:
  std::atomic<std::int64_t> now_ns_;
};

}  // namespace brigade
