#pragma once

// The contract of torch_classifier: in the core, without LibTorch. The code is the module `torch`.

#include <string>
#include <vector>

#include <brigade/contract.h>
#include <brigade/cuda.h>
#include "stages/api/channel_order.h"

namespace brigade {

struct TorchClassifierParams {
  enum class Model : std::uint8_t { small_cnn, linear, mlp, resnet18, resnet50 };
  enum class Optimizer : std::uint8_t { sgd, adam, adamw };
  enum class Schedule : std::uint8_t { cosine, constant };
  enum class Precision : std::uint8_t { f32, bf16, f16 };

  Model model = Model::small_cnn;
  InputPath torchscript;
  bool train = true;
  InputPath weights;
  bool new_head = false;
  Optimizer optimizer = Optimizer::sgd;
  double lr = 0.05;
  Schedule schedule = Schedule::cosine;
  double momentum = 0.9;
  double weight_decay = 0;
  std::uint64_t warmup_steps = 0;
  double clip_norm = 0;
  double label_smoothing = 0;
  std::int64_t classes = 10;
  std::vector<std::string> names;
  ChannelOrder layout = ChannelOrder::guess;
  OutputPath loss_file;
  Precision precision = Precision::f32;
  bool channels_last = false;
  std::int64_t pad = 0;
  std::int64_t crop = 0;
  double flip = 0;
  std::vector<double> mean = {0.5};
  std::vector<double> std = {0.5};
  bool data_parallel = true;
  Duration rank_timeout{300'000'000'000};
};

/// What becomes of u8 pictures, but for mean, std and dtype.
inline cuda::Normalization normalization_of(const TorchClassifierParams& params,
                                            const PictureSizes& sizes) {
  cuda::Normalization to;
  to.height = sizes.height;
  to.width = sizes.width;
  to.channels = sizes.channels;
  to.planes = sizes.order == ChannelOrder::chw;
  to.pad = params.pad;
  to.cut_height = params.crop > 0 ? params.crop : sizes.height;
  to.cut_width = params.crop > 0 ? params.crop : sizes.width;
  to.channels_last = params.channels_last;
  return to;
}

/// In pixels: small_cnn halves the image twice, and normalises over what is left.
inline constexpr std::int64_t kSmallCnnSideMin = 8;

Contract<TorchClassifierParams> torch_classifier_contract();

}  // namespace brigade
