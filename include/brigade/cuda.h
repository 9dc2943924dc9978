#pragma once

// Converts batches of u8 images to the floats that a model takes: random crop,
// flip, normalization and layout in one pass over the batch, on an NVIDIA GPU
// if the batch's bytes are already there, and on the CPU to the same bits.
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
// The CPU draws all random numbers, in the order of the stage augment_image: the same
// stream of random numbers gives the same crop. A GPU gets the crops as arguments of
// the kernel, so that only `images` and `floats` must stay alive. Any thread.

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
  std::int64_t height = 0;      ///< of a picture as it comes ...
  std::int64_t width = 0;       ///< ... in pixels
  std::int64_t channels = 0;    ///< at most kChannelsMax
  bool planes = false;          ///< pictures come as CHW; else HWC
  std::int64_t pad = 0;         ///< pixels of zeros on every side, before the cut
  std::int64_t cut_height = 0;  ///< of what is cut out of the padded picture, in pixels; 0: height
  std::int64_t cut_width = 0;   ///< 0: width
  DType dtype = f32;            ///< of the values: f32, f16 or bf16
  bool channels_last = false;   ///< values in the order NHWC; else NCHW
  OfChannels mean{};            ///< of levels between 0 and 1, by channel
  OfChannels std = ones();

  static constexpr OfChannels ones() {
    OfChannels all{};
    for (float& number : all) number = 1;
    return all;
  }
};

/// The first row and column of a cut in the padded picture; whether it is mirrored left to right.
struct Cut {
  std::int32_t y = 0;
  std::int32_t x = 0;
  std::int32_t mirrored = 0;
  friend bool operator==(const Cut&, const Cut&) = default;
};

/// Sizes that cannot be; a cut that is larger than the padded picture; a dtype that is no float.
BRIGADE_API Result<void> check(const Normalization& to);

/// As augment_image draws it, of a sample's random numbers: row, column, then whether to mirror,
/// with the probability `flip`; a draw with one possible outcome is left out.
BRIGADE_API Cut random_cut(const Normalization& to, double flip, Philox random);
/// The one in the middle, as it is: for evaluation.
BRIGADE_API Cut centre_cut(const Normalization& to);

/// One cut for each picture; `pictures` are u8 [cuts.size(), H, W, C], or [.., C, H, W], without
/// gaps, `values` as many of `dtype`. Waits until it is done. Fails as check() does, and on a cut
/// that no random_cut() gives.
BRIGADE_API Result<void> normalize(const Normalization& to, std::span<const Cut> cuts,
                                   const std::uint8_t* pictures, void* values);

/// Whether this library has kernels (it was built where there was nvcc); else normalize_on_gpu()
/// fails.
BRIGADE_API bool has_kernels();

/// The same on a GPU: both addresses are of its memory, and the calling thread's current context is
/// the GPU's, as it is behind any call of LibTorch or of the CUDA runtime for that GPU. It is put
/// on `stream` (a cudaStream_t, CUstream; null: the default one), and not waited for.
BRIGADE_API Result<void> normalize_on_gpu(const Normalization& to, std::span<const Cut> cuts,
                                          const std::uint8_t* pictures, void* values,
                                          void* stream = nullptr);

}  // namespace brigade::cuda
