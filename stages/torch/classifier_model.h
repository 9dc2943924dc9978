#pragma once

// The interface of a model for torch_classifier: from batches of images to scores.

#include <torch/nn/module.h>
#include <torch/nn/modules/batchnorm.h>

#include <exception>
#include <string_view>

namespace brigade {

class ClassifierModel : public torch::nn::Module {
 public:
  /// Floats [B, C, H, W] -> [B, classes].
  virtual at::Tensor forward(const at::Tensor& images) = 0;
  /// Until the next train(): batch normalisation by the means and variances that it has learned,
  /// which stay as they are.
  virtual void keep_statistics() {
    for (const auto& module : modules(false))
      if (auto* norm = module->as<torch::nn::BatchNorm2d>()) norm->eval();
  }
};

/// Scores of a step of training. Of one value per channel, as of a single picture whose map is
/// 1 x 1, batch normalisation learns no variance, and LibTorch refuses it: the short batch at the
/// end of an epoch is then normalised by what was learned before it.
inline at::Tensor training_scores(ClassifierModel& model, const at::Tensor& images) {
  model.train();
  if (images.size(0) > 1) return model.forward(images);
  try {
    return model.forward(images);
  } catch (const std::exception& error) {
    if (std::string_view(error.what()).find("more than 1 value per channel") ==
        std::string_view::npos)
      throw;
  }
  model.keep_statistics();
  return model.forward(images);
}

}  // namespace brigade
