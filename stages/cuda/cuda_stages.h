#pragma once

// The stages of the package `cuda`: the operations of <brigade/cuda.h> as stages.

#include <brigade/stage_types.h>

namespace brigade {

void add_normalize_image(StageTypes& types);  ///< transform: batches of u8 pictures as floats

}  // namespace brigade
