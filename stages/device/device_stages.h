#pragma once

// The ways to a device's memory and back: tensors that one process uploads and another, which
// computes on the same device, reads there (`memory: device`). Elsewhere both only copy, so that a
// graph runs alike where there is no device.

#include <brigade/stage_types.h>

namespace brigade {

void add_to_device(StageTypes& types);    ///< transform that uploads a tensor
void add_from_device(StageTypes& types);  ///< transform that brings it back

/// All of them, in the order in which `brigade stages` lists them.
inline void add_device_stages(StageTypes& types) {
  add_to_device(types);
  add_from_device(types);
}

}  // namespace brigade
