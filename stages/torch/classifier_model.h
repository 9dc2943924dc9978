#pragma once

// What torch_classifier asks of a model: batches of images to scores.

#include <torch/nn/module.h>

namespace brigade {

class ClassifierModel : public torch::nn::Module {
 public:
  /// Floats [B, C, H, W] -> [B, classes].
  virtual at::Tensor forward(const at::Tensor& images) = 0;
};

}  // namespace brigade
