#pragma once

// The devices' memory of a run's rings (`memory: device`). A separate process makes each such
// ring, with the writer's `device:` and `env:`, before any worker starts: it sends the descriptor
// and ends. The holder of the descriptor keeps the memory, and needs no device for it.

#include <functional>
#include <string>
#include <vector>

#include "base/owned_fd.h"
#include "pipeline/plan/plan.h"
#include "pipeline/run/launch/process_runner.h"

namespace brigade {

/// A GPU's driver begins in about a second, a lost one never.
inline constexpr int kDeviceMemoryTimeoutMs = 60'000;
/// Who does not end by then when it was killed is in a driver that does not return, and is left.
inline constexpr int kKilledTimeoutMs = 10'000;
inline constexpr int kStopAskedEveryMs = 100;

/// By the stage that writes there; -1: it writes to none. Waits, and asks `stopped` meanwhile on
/// this thread, where there is one, until the answer is yes. `environment`: what workers start
/// from. Errors name the edge.
Result<ByStage<OwnedFd>> ask_for_device_memory(const Plan& plan, int plan_fd, ProcessRunner& runner,
                                               const std::vector<std::string>& environment,
                                               std::function<bool()> stopped,
                                               int timeout_ms = kDeviceMemoryTimeoutMs,
                                               int killed_timeout_ms = kKilledTimeoutMs);

}  // namespace brigade
