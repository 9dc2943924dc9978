#pragma once

// Converts batches of u8 images to the floats that a model takes: random crop, flip, normalization
// and layout in one pass over the batch. It runs on an NVIDIA GPU if the batch is already there,
// otherwise on the CPU with bit-identical results.
//
//   brigade::cuda::Normalization to{.height = 32, .width = 32, .channels = 3, .pad = 4};
//   to.dtype = brigade::f16;
//   to.mean = {0.485F, 0.456F, 0.406F};
//   to.std = {0.229F, 0.224F, 0.225F};
//   std::vector<brigade::cuda::Cut> cuts;
//   for (std::int64_t i = 0; i < batch.size(); ++i)
//     cuts.push_back(brigade::cuda::random_cut(to, 0.5, batch.random(i)));
//   auto done = brigade::cuda::normalize_on_gpu(to, cuts, images, floats, stream);
//
// The CPU draws all random numbers, in the order of the stage augment_image: the same stream of
// random numbers gives the same crop. A GPU gets the crops as kernel arguments, so that only
// `images` and `floats` must stay alive. Any thread.

#include <array>
#include <cstdint>
#include <span>

#include <brigade/export.h>
#include <brigade/random.h>
#include <brigade/result.h>
#include <brigade/tensor.h>

namespace brigade::cuda {

inline constexpr std::size_t kChannelsMax = 64;
using OfChannels = std::array<float, kChannelsMax>;

/// Values are (level / 255 - mean) / std, rounded to `dtype`; a padded pixel is level 0.
struct Normalization {
  std::int64_t height = 0;      ///< of an input image ...
  std::int64_t width = 0;       ///< ... in pixels
  std::int64_t channels = 0;    ///< at most kChannelsMax
  bool planes = false;          ///< input images are CHW; otherwise HWC
  std::int64_t pad = 0;         ///< pixels of zeros on every side, before the crop
  std::int64_t cut_height = 0;  ///< of the crop, in pixels; 0: height
  std::int64_t cut_width = 0;   ///< 0: width
  DType dtype = f32;            ///< of the output: f32, f16 or bf16
  bool channels_last = false;   ///< output in the order NHWC; otherwise NCHW
  OfChannels mean{};            ///< per channel, for levels between 0 and 1
  OfChannels std = ones();

  static constexpr OfChannels ones() {
    OfChannels all{};
    for (float& number : all) number = 1;
    return all;
  }
};

/// The first row and column of a crop in the padded image; whether it is mirrored left to right.
struct Cut {
  std::int32_t y = 0;
  std::int32_t x = 0;
  std::int32_t mirrored = 0;
  friend bool operator==(const Cut&, const Cut&) = default;
};

/// Errors: impossible sizes, a crop larger than the padded image, or a dtype that is not a float.
BRIGADE_API Result<void> check(const Normalization& to);

/// Draws row, column, then whether to mirror (with probability `flip`), in the order of
/// augment_image. It draws nothing for a choice with one possible outcome.
BRIGADE_API Cut random_cut(const Normalization& to, double flip, Philox random);
/// The crop in the center, not mirrored: for evaluation.
BRIGADE_API Cut centre_cut(const Normalization& to);

/// Converts with one crop per image; `pictures` are contiguous u8 [cuts.size(), H, W, C] or [.., C,
/// H, W], `values` has as many elements of `dtype`. Waits until it is done. Errors: those of
/// check(), and a crop outside the range of random_cut().
BRIGADE_API Result<void> normalize(const Normalization& to, std::span<const Cut> cuts,
                                   const std::uint8_t* pictures, void* values);

/// True if this library has kernels, that is, was built with nvcc; otherwise normalize_on_gpu()
/// fails.
BRIGADE_API bool has_kernels();

/// The same on a GPU: both addresses are in its memory, and the calling thread's current context
/// must be that of the GPU, as after any call of LibTorch or the CUDA runtime for it. Enqueues on
/// `stream` (a cudaStream_t, CUstream; null: the default stream) and does not wait.
BRIGADE_API Result<void> normalize_on_gpu(const Normalization& to, std::span<const Cut> cuts,
                                          const std::uint8_t* pictures, void* values,
                                          void* stream = nullptr);

}  // namespace brigade::cuda
