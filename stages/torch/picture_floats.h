#pragma once

// Converts batches of images to the floats that a model takes, [B, C, H, W] on its
// device. <brigade/cuda.h> crops, flips and normalizes u8 images: a GPU receives
// them as bytes. Float images are expected to be normalized, and are not changed.

#include <cstdint>
#include <vector>

#include <brigade/cuda.h>
#include <brigade/record.h>
#include <brigade/result.h>
#include "stages/torch/torch_adapter.h"
#include "stages/torch/torch_classifier_contract.h"

namespace brigade {

class PictureFloats {
 public:
  enum class For : std::uint8_t { training, evaluation };

  PictureFloats() = default;
  /// `pictures`: of a sample, in the contract's limits. u8 pictures become `dtype`, others f32.
  PictureFloats(const TorchClassifierParams& params, const PictureSizes& sizes, at::Device device,
                at::ScalarType dtype);

  /// Of the tensor `image` of `in`, which is `pictures`, on the device unless there are no kernels:
  /// cut at random, and mirrored, for training; in the middle else.
  Result<at::Tensor> of(const Inputs& in, at::Tensor pictures, For use) const;
  /// Of what of() gives, in pixels.
  std::int64_t height() const { return to_.cut_height; }
  std::int64_t width() const { return to_.cut_width; }
  /// The GPU gets floats from the CPU: there are no kernels.
  bool without_kernels() const { return device_.is_cuda() && !cuda::has_kernels(); }

 private:
  Result<at::Tensor> of_levels(const Inputs& in, const at::Tensor& levels, For use) const;

  cuda::Normalization to_;
  double flip_ = 0;
  at::Device device_ = at::kCPU;
  at::ScalarType dtype_ = at::kFloat;
};

}  // namespace brigade
