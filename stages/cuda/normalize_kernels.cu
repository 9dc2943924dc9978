// The kernels of normalize_on_gpu(), by the dtype of their values. Built to a fat binary that the
// library carries (kernel_image.cpp) and the driver loads: no CUDA runtime is linked.

#include "stages/cuda/normalize_value.h"

namespace brigade::cuda {
namespace {

template <class Value>
__device__ void normalize_here(const PixelWork& work, const Cuts& cuts,
                               const std::uint8_t* pictures, Value* values) {
  __shared__ LevelTable<Value> table;
  const NormalValue<Value> value{work};
  make_level(work, threadIdx.x, value, table);
  __syncthreads();
  make_pixels(work, cuts, blockIdx.x, blockIdx.y, threadIdx.x, pictures, table, value, values);
}

}  // namespace

extern "C" __global__ void brigade_normalize_f32(const __grid_constant__ PixelWork work,
                                                 const __grid_constant__ Cuts cuts,
                                                 const std::uint8_t* pictures, float* values) {
  normalize_here(work, cuts, pictures, values);
}
extern "C" __global__ void brigade_normalize_f16(const __grid_constant__ PixelWork work,
                                                 const __grid_constant__ Cuts cuts,
                                                 const std::uint8_t* pictures, __half* values) {
  normalize_here(work, cuts, pictures, values);
}
extern "C" __global__ void brigade_normalize_bf16(const __grid_constant__ PixelWork work,
                                                  const __grid_constant__ Cuts cuts,
                                                  const std::uint8_t* pictures,
                                                  __nv_bfloat16* values) {
  normalize_here(work, cuts, pictures, values);
}

}  // namespace brigade::cuda
