#pragma once

// The words of a control segment as a resumed run begins with them. Marks begin where the shape
// says (graph_shape.h); the rest is here: ends of epochs that were told, epochs of unknown length
// that are over, samples in quarantine, what the sources were.

#include "pipeline/plan/plan.h"
#include "transports/layout.h"

namespace brigade {

/// Supervisor, once, before any worker exists. Changes nothing for a run from the beginning.
void begin_at(const Plan& plan, Control<SystemPolicy>& control);

}  // namespace brigade
