#pragma once

// Copies to a device's memory and back: one process uploads tensors, and
// another process on the same device reads them there (`memory: device`).
// Otherwise both only copy, so that a graph runs the same without a device.

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
