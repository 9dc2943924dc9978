#pragma once

// A wait for one descriptor with a time limit
// that signals do not extend. Any thread.

#include <poll.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>

#include "base/clock.h"

namespace brigade {

/// Whether there is something to read, or its other end has gone; `timeout_ms` -1: waits until
/// then.
inline bool wait_to_read(int fd, int timeout_ms) {
  constexpr std::int64_t kNsOfMs = 1'000'000;
  const std::int64_t end_ns = monotonic_ns() + timeout_ms * kNsOfMs;
  int left_ms = timeout_ms;
  for (;;) {
    pollfd ready{fd, POLLIN, 0};
    const int answer = poll(&ready, 1, left_ms);
    if (answer >= 0 || errno != EINTR) return answer > 0;
    if (timeout_ms < 0) continue;
    const std::int64_t left_ns = std::max<std::int64_t>(end_ns - monotonic_ns(), 0);
    left_ms = static_cast<int>((left_ns + kNsOfMs - 1) / kNsOfMs);
  }
}

}  // namespace brigade
