#pragma once

// The initial words of a control segment in a resumed run. The shape sets the
// watermarks (shared_shape.h); the rest is here: reported ends of epochs, finished
// epochs of unknown length, samples in quarantine, fingerprints of the sources.

#include "pipeline/plan/resume_point.h"
#include "transports/layout.h"

namespace brigade {

/// Supervisor, once, before any worker exists. Changes nothing for a run from the beginning.
void begin_at(const Plan& plan, const ResumePoint& resume, Control<SystemPolicy>& control);

}  // namespace brigade
