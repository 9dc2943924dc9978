#pragma once

// The plan as text for people: the output of `brigade plan`. Processes and
// their tasks, every ring as a sum with a line per term, memory against
// the machine, then warnings. The text has golden tests. Pure function.

#include <string>
#include <vector>

#include "device/gpu_report.h"
#include "pipeline/plan/consumer_epochs.h"
#include "pipeline/plan/plan.h"
#include "pipeline/plan/planner/machine_limits.h"
#include "pipeline/report/source_audit.h"

namespace brigade {

/// "4 processes": those that a run starts. A program that reads the graph is there already.
std::string processes_text(const Plan& plan);

/// `room`: what the run may take, from memory_room(); of sources and consumers those are shown
/// whose samples are known. `gpus`: those of the machine, where a stage is to use one.
std::string print_plan(const Plan& plan, const MachineLimits& limits, const MemoryRoom& room,
                       const std::vector<SourceAudit>& sources = {},
                       const std::vector<ConsumerEpoch>& consumers = {},
                       const GpuReport& gpus = {});

}  // namespace brigade
