#pragma once

// The one line that says why a replica is no more: who, how it ended, what it was working on, and
// what it said last. Pure.

#include <deque>
#include <optional>
#include <string>

#include "pipeline/launch/process_runner.h"
#include "pipeline/plan/plan.h"
#include "pipeline/supervisor/start_barrier.h"
#include "transports/layout.h"
#include "transports/policy.h"

namespace brigade {

/// Lines kept of each replica's output.
inline constexpr std::size_t kLastLinesKept = 20;

/// A sample by all its names.
struct InFlightSample {
  std::uint64_t number = 0;
  bool placed = false;  ///< epoch, index and id are known: the source has a size
  std::uint64_t epoch = 0;
  std::uint64_t index = 0;  ///< in the epoch
  std::uint64_t id = 0;     ///< index in the source
};

/// What an `at` word says, of a replica of `stage`; nothing when it had no in-flight sample.
std::optional<InFlightSample> in_flight_sample(const Plan& plan, const StartBarrier& barrier,
                                               const Control<SystemPolicy>& control,
                                               StageNumber stage, std::uint64_t at);

struct FailureReport {
  std::string stage;
  int replica = 0;       ///< of the stage
  pid_t pid = 0;         ///< 0: a thread
  bool is_exec = false;  ///< its program is the user's own
  Ending ending;
  bool lack_of_memory = false;  ///< the kernel killed it for that
  std::string message;          ///< of its own; empty: it could not say
  std::optional<InFlightSample> sample;
  std::deque<std::string> last_lines;
};

/// stage "augment" replica 1 (pid 123) was killed by SIGSEGV with sample 812 in flight (epoch 0,
/// index 812, id 4711); its last output: "..." / "..."
std::string failure_text(const FailureReport& death);

}  // namespace brigade
