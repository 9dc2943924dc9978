#pragma once

// Tensors that a transform does not name pass through with the sample;
// `keep:` or `drop:` chooses among them. A part of validate_ports.

#include "pipeline/config/validate/draft.h"

namespace brigade {

/// Appends what passes to the stage's outputs. False after a mistake.
bool pass_tensors(Validation& validation, Draft& draft);

}  // namespace brigade
