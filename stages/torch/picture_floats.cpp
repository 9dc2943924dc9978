#include "stages/torch/picture_floats.h"

#include <ATen/DeviceGuard.h>

#include "stages/cuda/channel_numbers.h"

namespace brigade {
namespace {

DType dtype_of(at::ScalarType type) {
  if (type == at::kHalf) return f16;
  return type == at::kBFloat16 ? bf16 : f32;
}

}  // namespace

PictureFloats::PictureFloats(const TorchClassifierParams& params, const PictureSizes& sizes,
                             at::Device device, at::ScalarType dtype)
    : to_(normalization_of(params, sizes)), flip_(params.flip), device_(device), dtype_(dtype) {
  to_.dtype = dtype_of(dtype);
  to_.channels_last |= !to_.planes;  // the order in which they come, and what is faster on CPUs
  to_.mean = cuda::of_channels(params.mean);
  to_.std = cuda::of_channels(params.std);
}

Result<at::Tensor> PictureFloats::of(const Inputs& in, at::Tensor pictures, For use) const {
  if (pictures.scalar_type() == at::kByte) return of_levels(in, pictures, use);
  pictures = pictures.to(device_);
  if (!to_.planes) pictures = pictures.permute({0, 3, 1, 2});
  return pictures.to(at::kFloat);
}

Result<at::Tensor> PictureFloats::of_levels(const Inputs& in, const at::Tensor& levels,
                                            For use) const {
  std::vector<cuda::Cut> cuts(static_cast<std::size_t>(in.samples()), cuda::centre_cut(to_));
  for (std::size_t i = 0; use == For::training && i < cuts.size(); ++i)
    cuts[i] = cuda::random_cut(to_, flip_, in.random(static_cast<std::int64_t>(i)));
  const at::Device where = without_kernels() ? at::Device(at::kCPU) : device_;
  const at::Tensor values =
      at::empty({in.samples(), to_.channels, to_.cut_height, to_.cut_width},
                at::TensorOptions(dtype_).device(where),
                to_.channels_last ? at::MemoryFormat::ChannelsLast : at::MemoryFormat::Contiguous);
  if (where.is_cpu()) {
    const at::Tensor here = levels.to(where);  // of a GPU that has them already: back again
    BRIGADE_TRY(cuda::normalize(to_, cuts, here.data_ptr<std::uint8_t>(), values.data_ptr()));
    return values.to(device_);
  }
  // On the default stream, where LibTorch works, too: that of the thread's current GPU.
  const at::DeviceGuard current(device_);
  BRIGADE_TRY(
      cuda::normalize_on_gpu(to_, cuts, levels.data_ptr<std::uint8_t>(), values.data_ptr()));
  return values;
}

}  // namespace brigade
