#pragma once

// The words of a control segment as a resumed run begins with them. Watermarks begin where the
// shape says (shared_shape.h); the rest is here: ends of epochs that were told, epochs of unknown
// length that are over, samples in quarantine, what the sources were.

#include "pipeline/plan/resume_point.h"
#include "transports/layout.h"

namespace brigade {

/// Supervisor, once, before any worker exists. Changes nothing for a run from the beginning.
void begin_at(const Plan& plan, const ResumePoint& resume, Control<SystemPolicy>& control);

}  // namespace brigade
