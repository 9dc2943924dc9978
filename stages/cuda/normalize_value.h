#pragma once

// The value that a kernel writes for a level, rounded by CUDA's own conversions.
// Only for nvcc: the CPU version rounds by stages/basic/half_float.h.

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include "stages/cuda/normalize_pixel.h"

namespace brigade::cuda {

template <class Value>
struct NormalValue {
  const PixelWork& work;
  BRIGADE_HOST_DEVICE Value operator()(std::uint8_t level, std::int32_t channel) const {
    return rounded(normal_value(work, level, channel), Value{});
  }
  BRIGADE_HOST_DEVICE static float rounded(float value, float) { return value; }
  BRIGADE_HOST_DEVICE static __half rounded(float value, __half) { return __float2half_rn(value); }
  BRIGADE_HOST_DEVICE static __nv_bfloat16 rounded(float value, __nv_bfloat16) {
    return __float2bfloat16_rn(value);
  }
};

}  // namespace brigade::cuda
