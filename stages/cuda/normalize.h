#pragma once

// The implementation of <brigade/cuda.h> below its checks.

#include <cstdint>
#include <span>

#include <brigade/cuda.h>
#include "stages/cuda/kernel_driver.h"
#include "stages/cuda/normalize_pixel.h"

namespace brigade::cuda {

/// Of a Normalization that check() takes.
PixelWork pixel_work(const Normalization& to);

/// On `stream`, with `kernels`: a launch for every kCutsMax pictures.
Result<void> launch_normalize(Kernels& kernels, const Normalization& to, std::span<const Cut> cuts,
                              const std::uint8_t* pictures, void* values, void* stream);

}  // namespace brigade::cuda
