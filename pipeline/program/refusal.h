#pragma once

// Why next() or acquire() has failed, for callers that act on it: a batch or slot that comes back
// right behind the failed call changes what the queue says, and not this. Of a thread: of its last
// call that was refused for one of these reasons, unless it has set another before.

#include <cstdint>

namespace brigade {

enum class Refusal : std::uint8_t {
  other,  ///< as its message says
  held,   ///< more is held than may be
  unread  ///< what it waits for stands behind what the program has not read
};

inline Refusal& last_refusal() {
  thread_local Refusal refusal = Refusal::other;
  return refusal;
}

}  // namespace brigade
