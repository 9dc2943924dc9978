#pragma once

// Maps a number to its sample of the source, as messages,
// `on_error:` and positions name it. Any thread.

#include <cstdint>

#include "pipeline/plan/plan.h"
#include "pipeline/records/sampler.h"
#include "transports/layout.h"

namespace brigade {

/// The producer whose ids the samples of a stage's task queue carry: of zipped sources, the first
/// one's.
const PlanStage& id_source(const Plan& plan, const PlanStage& stage, QueueNumber queue);

/// Index in its source of sample `number` of a stage's task queue, the same in every epoch; the
/// number where the source has no index, or has not said how large it is. Of samples that come by
/// weight only a process that has opened the source knows it (`draws`); to others it is the number,
/// too.
std::uint64_t source_id(const Plan& plan, const Control<SystemPolicy>& control, StageNumber stage,
                        QueueNumber queue, std::uint64_t number, const Draws* draws = nullptr);

/// All that the source has found; 0 until its first replica has opened, and of a stream.
std::uint64_t found_samples(const Plan& plan, const Control<SystemPolicy>& control,
                            const PlanStage& source);

/// What maps the numbers of `source`'s index space to its samples, once it has opened. They are
/// those of the task queues below it, but for the fan-outs in between (PlanIndexSpace::fan_out).
/// `draws`, which outlives it: of a source whose samples come by weight.
Sampler source_sampler(const Plan& plan, const Control<SystemPolicy>& control,
                       const PlanStage& source, const Draws* draws = nullptr);

}  // namespace brigade
