#pragma once

// The contract of torch_classifier: in the core, without LibTorch. The body is the module `torch`.

#include <brigade/contract.h>

namespace brigade {

struct TorchClassifierParams {
  enum class Model : std::uint8_t { small_cnn, linear, mlp, resnet18, resnet50 };
  enum class Optimizer : std::uint8_t { sgd, adam, adamw };
  enum class Schedule : std::uint8_t { cosine, constant };

  Model model = Model::small_cnn;
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
  OutputPath loss_file;
};

/// In pixels: small_cnn halves the image twice, and normalises over what is left.
inline constexpr std::int64_t kSmallCnnSideMin = 8;

Contract<TorchClassifierParams> torch_classifier_contract();

}  // namespace brigade
