#include "pipeline/application/interruptible_sleep.h"

#include <algorithm>
#include <cerrno>

#include "base/clock.h"
#include "transports/policy.h"

namespace brigade {

void InterruptibleSleep::operator()(std::atomic<std::uint32_t>& word, std::uint32_t expected) {
  if (asked_ || never_) return until(word, expected, INT64_MAX);
  SystemPolicy::sleep(word, expected);
}

void InterruptibleSleep::until(std::atomic<std::uint32_t>& word, std::uint32_t expected,
                               std::int64_t until_ns) {
  interrupted_ = interrupted_ || never_;
  if (interrupted_) return;
  const std::int64_t now = monotonic_ns();
  if (ask_at_ns_ == 0) ask_at_ns_ = now + kInterruptedAskedEveryNs;
  const std::int64_t left = (asked_ ? std::min(ask_at_ns_, until_ns) : until_ns) - now;
  errno = 0;
  if (left > 0) SystemPolicy::sleep_for(word, expected, left);
  if (!asked_ || (errno != EINTR && monotonic_ns() < ask_at_ns_)) return;
  interrupted_ = asked_();
  ask_at_ns_ = monotonic_ns() + kInterruptedAskedEveryNs;
}

}  // namespace brigade
