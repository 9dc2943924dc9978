#pragma once

// The devices' memory of a run's rings (`memory: device`). It is made by a process for each such
// ring, as its writer's is started (its `device:`, its `env:`), before any worker is: it sends the
// descriptor and ends. Who holds the descriptor keeps the memory, and needs no device for it.

#include <string>
#include <vector>

#include "base/owned_fd.h"
#include "pipeline/launch/process_runner.h"
#include "pipeline/plan/plan.h"

namespace brigade {

/// A GPU's driver begins in about a second, a lost one never.
inline constexpr int kDeviceMemoryTimeoutMs = 60'000;

/// By the stage that writes there; -1: it writes to none. Waits. `environment`: what workers start
/// from. Errors name the edge.
Result<ByStage<OwnedFd>> ask_for_device_memory(const Plan& plan, int plan_fd, ProcessRunner& runner,
                                               std::vector<std::string> environment,
                                               int timeout_ms = kDeviceMemoryTimeoutMs);

}  // namespace brigade
