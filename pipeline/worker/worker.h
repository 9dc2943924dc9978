#pragma once

// A worker: one replica of one stage in a separate process. It gets its role
// from the environment and inherited descriptors, maps only the memory that it
// reads and writes, opens its module, and then only runs its replica. Its life:
//
//   attach -> open -> report Ready -> run -> close -> report numbers and Done -> _exit(0)
//
// or, at any point, report Failed and _exit(1).

#include <memory>

#include <brigade/stage_types.h>
#include "pipeline/memory/shared_segments.h"
#include "pipeline/worker/messages.h"

namespace brigade {

/// Names a fault that a test wants in a worker; one that does not say that it comes again is not
/// handed to replicas that are started again.
inline constexpr const char* kFaultVariable = "BRIGADE_FAULT";

/// Never returns. `types`: of the program this worker is started from.
[[noreturn]] void run_worker(const WorkerRole& role, const StageTypes& types);

/// What every worker does first: it dies with the supervisor, and so do its children.
void begin_worker(const WorkerRole& role);

/// A process that a stage forks (some Python workers, a decoder in a sandbox) ends with its worker,
/// even if the supervisor is gone and cannot kill the worker's group: the kernel clears the death
/// signal in a forked child, so it is set there again. Once, in a worker. For children of children,
/// too.
///
/// That signal comes when the forking *thread* ends. Therefore only children of the main thread get
/// it, which runs the stage: children of another thread may be meant to outlive that thread. Only
/// fork() is detected: children by vfork, posix_spawn or clone end only with the group.
void end_forked_children_with_this_process();

/// Maps what the role grants, and checks it against the plan.
Result<std::unique_ptr<AttachedSegments>> attach_role(const WorkerRole& role);
/// All that a process does whose role is to make a device's memory for what its stage writes there:
/// makes it, sends the descriptor, or why not.
Result<void> send_device_memory(const WorkerRole& role);
/// The shared tensors of it; closes their descriptors.
Result<ReplicaShared> map_shared(const WorkerRole& role, const Plan& plan);

/// Arms the fault that BRIGADE_FAULT="STAGE.REPLICA=POINT:N:kill" (transports/fault_points.h) names
/// when it is this replica's; several are separated by commas. For tests.
Result<void> arm_worker_fault(std::string_view text, std::string_view stage, int replica);

}  // namespace brigade
