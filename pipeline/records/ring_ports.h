#pragma once

// The tensors that a stage of the plan reads and writes,
// and their places in the rings. Pure functions.

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include <brigade/stage.h>
#include "pipeline/plan/plan.h"
#include "transports/slot_ring.h"

namespace brigade {

/// The array of a ring with the tensor of that name; aborts where there is none.
std::size_t array_index(const PlanRing& ring, std::string_view name);

/// NAME.shape right after a ragged NAME belongs to it.
bool is_shape_array(const PlanRing& ring, std::size_t i);

/// Whether the tensor travels on through the stage.
bool is_passed(const PlanStage& stage, const std::string& name);

/// Types per sample of what a stage reads: of a single source, or of all as "port.tensor".
Ports input_ports(const Plan& plan, const PlanStage& stage);
/// Of what it writes itself, without what passes through it.
Ports own_outputs(const PlanStage& stage);

/// Where those arrays of the stage's inputs that can be pinned (arrays_to_pin()) lie in `rings`.
std::vector<InputMemory> dense_inputs(const Plan& plan, const PlanStage& stage,
                                      const ByStage<SlotRing>& rings);

}  // namespace brigade
