#pragma once

// The optimizers that torch_classifier trains with, and their learning-rate schedules.

#include <torch/optim/adam.h>
#include <torch/optim/adamw.h>
#include <torch/optim/sgd.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <numbers>
#include <vector>

#include <brigade/sample_info.h>
#include "stages/torch/torch_classifier_contract.h"

namespace brigade {

/// Of a model's parameters, as `params` says: the learning rate of the first step is for later.
inline std::unique_ptr<torch::optim::Optimizer> make_optimizer(
    const TorchClassifierParams& params, const std::vector<at::Tensor>& parameters) {
  using Optimizer = TorchClassifierParams::Optimizer;
  switch (params.optimizer) {
    case Optimizer::sgd:
      return std::make_unique<torch::optim::SGD>(parameters,
                                                 torch::optim::SGDOptions(params.lr)
                                                     .momentum(params.momentum)
                                                     .weight_decay(params.weight_decay));
    case Optimizer::adam:
      return std::make_unique<torch::optim::Adam>(
          parameters, torch::optim::AdamOptions(params.lr).weight_decay(params.weight_decay));
    case Optimizer::adamw:
      return std::make_unique<torch::optim::AdamW>(
          parameters, torch::optim::AdamWOptions(params.lr).weight_decay(params.weight_decay));
  }
  return nullptr;
}

/// The cosine begins with the second epoch, when the length of an epoch is known, in samples; it is
/// 0 before.
inline double cosine_at(const TorchClassifierParams& params, const SampleInfo& first,
                        double epoch_samples, double epochs) {
  if (params.schedule == TorchClassifierParams::Schedule::constant || first.epoch == 0) return 1;
  const double done = epoch_samples > 0 ? static_cast<double>(first.index) / epoch_samples : 0;
  const double share = (first.epoch - 1 + std::min(done, 1.0)) / (epochs - 1);
  return 0.5 * (1 + std::cos(std::numbers::pi * std::min(share, 1.0)));
}

}  // namespace brigade
