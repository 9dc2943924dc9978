#pragma once

// What a replica found when it looked for its next task. Plain data.

#include <cstdint>

#include "transports/watermark.h"

namespace brigade {

enum class Look : std::uint8_t {
  claimed,  ///< the task is yours
  blocked,  ///< nothing to do now; see blocked_on
  ended     ///< the task queue is finished
};

/// What a blocked replica waits for; counted apart in the statistics.
enum class Cause : std::uint8_t { input, memory, end, stop, barrier };

template <class P>
struct Attempt {
  Look look = Look::blocked;
  std::uint64_t task = 0;
  Watermark<P>* blocked_on = nullptr;  ///< null: only a doorbell can change it (stop)
  Cause cause = Cause::input;
  std::uint64_t until = 0;  ///< the value of that watermark at which to look again
};

}  // namespace brigade
