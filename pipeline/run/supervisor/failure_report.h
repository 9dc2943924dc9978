#pragma once

// The event of a replica's death: which replica, how it
// ended, its sample in flight, and its last output. Pure.

#include <deque>
#include <optional>
#include <string>

#include <brigade/event.h>
#include "pipeline/plan/plan.h"
#include "pipeline/run/launch/process_runner.h"
#include "pipeline/run/supervisor/start_barrier.h"
#include "transports/layout.h"
#include "transports/policy.h"

namespace brigade {

/// Lines kept of each replica's output.
inline constexpr std::size_t kLastLinesKept = 20;

/// What an `at` word says, of a replica of `stage`; nothing when it had no in-flight sample.
std::optional<EventSample> in_flight_sample(const Plan& plan, const StartBarrier& barrier,
                                            const Control<SystemPolicy>& control, StageNumber stage,
                                            std::uint64_t at);

struct FailureReport {
  std::string stage;
  int replica = 0;       ///< of the stage
  pid_t pid = 0;         ///< 0: a thread
  bool is_exec = false;  ///< its program is the user's own
  Ending ending;
  bool lack_of_memory = false;  ///< the kernel killed it for that
  std::string message;          ///< of its own; empty: it could not say
  std::optional<EventSample> sample;
  std::deque<std::string> last_lines;
};

/// Of kind `failed` where it has a message of its own, else `died`.
Event event_of(const FailureReport& death);

}  // namespace brigade
