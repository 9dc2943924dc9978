#pragma once

// Opens stages and sources in a replica's process: its own, the parts of a mixture that
// it draws from, and the sources of other stages, to name their samples. One thread.

#include <cstdint>
#include <memory>

#include <brigade/stage.h>
#include "pipeline/plan/subset.h"
#include "pipeline/worker/replica/replica.h"

namespace brigade {

/// What a stage is opened with; it may keep references into it.
struct Opening {
  std::shared_ptr<void> params;  // the contract's struct
  OpenContext context;
};

/// All but what differs from replica to replica.
Result<void> prepare(const Plan& plan, const PlanStage& stage, const StageContract& contract,
                     Opening& out);

/// A source that is open, as its samples come by weight.
Result<std::unique_ptr<Producer>> drawn(std::shared_ptr<Producer> source, const PlanStage& stage,
                                        std::uint64_t found, const Subset& subset);

/// A part of a mixture as a source of its own, which writes into the slots of the mixture.
PlanStage part_of_mix(const PlanStage& mix, const PlanStage& part);

/// What a mixture draws from, opened. `again`, `reporter`: OpenContext has them.
Result<std::unique_ptr<Producer>> open_parts(const ReplicaSetup& setup, const PlanStage& mix,
                                             bool again, Reporter& reporter);

/// A producer alone: the source of a stage, or one part of a mixture, as `source` describes it.
Result<std::shared_ptr<Producer>> open_another(const ReplicaSetup& setup, const PlanStage& source,
                                               int replica, bool again, Reporter& reporter);

/// The source of another stage, which runs in other processes.
Result<std::shared_ptr<Producer>> open_source(const ReplicaSetup& setup, const PlanStage& source);

}  // namespace brigade
