#pragma once

// The result of a replica's search for its next task. Plain data.

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

/// In place of a watermark's value: to look again whenever a task is DONE, also one that the
/// watermark has not come to. And the value at which to do so whenever the watermark moves.
inline constexpr std::uint64_t kAnyDone = 0;
inline constexpr std::uint64_t kAnyMovement = 1;

template <class P>
struct Attempt {
  Look look = Look::blocked;
  std::uint64_t task = 0;
  Watermark<P>* blocked_on = nullptr;  ///< null: only a doorbell can change it (stop)
  Cause cause = Cause::input;
  std::uint64_t until = kAnyMovement;  ///< the value of that watermark at which to look again
};

}  // namespace brigade
