#pragma once

// Residual networks (He et al., "Deep residual learning for image recognition", 2015) as
// torchvision's resnet18 and resnet50: the stride of a bottleneck in its 3x3 convolution,
// the same names of parameters, and the same initial values, drawn in the same order.

#include <torch/nn/init.h>
#include <torch/nn/modules/batchnorm.h>
#include <torch/nn/modules/container/sequential.h>
#include <torch/nn/modules/conv.h>
#include <torch/nn/modules/linear.h>

#include <array>
#include <memory>
#include <vector>

#include <brigade/text.h>
#include "stages/torch/classifier_model.h"

namespace brigade {

/// A kernel of 3x3 or 1x1 keeps the size, divided by the stride.
inline torch::nn::Conv2d residual_convolution(std::int64_t from, std::int64_t to, std::int64_t side,
                                              std::int64_t stride) {
  return torch::nn::Conv2d(
      torch::nn::Conv2dOptions(from, to, side).stride(stride).padding(side / 2).bias(false));
}

/// Convolutions and what goes past them. `basic`: 3x3, 3x3. `bottleneck`: 1x1, 3x3, 1x1 to four
/// times the channels.
class ResidualBlock : public torch::nn::Module {
 public:
  enum class Kind : std::uint8_t { basic, bottleneck };
  static std::int64_t growth(Kind kind) { return kind == Kind::basic ? 1 : 4; }

  /// What goes past the block: null where its input has the shape of its output.
  static torch::nn::Sequential shortcut(Kind kind, std::int64_t from, std::int64_t width,
                                        std::int64_t stride) {
    const std::int64_t to = width * growth(kind);
    if (from == to && stride == 1) return nullptr;
    return torch::nn::Sequential(residual_convolution(from, to, 1, stride),
                                 torch::nn::BatchNorm2d(to));
  }

  ResidualBlock(Kind kind, std::int64_t from, std::int64_t width, std::int64_t stride,
                const torch::nn::Sequential& past) {
    if (kind == Kind::basic) {
      add(from, width, 3, stride);
      add(width, width, 3, 1);
    } else {
      add(from, width, 1, 1);
      add(width, width, 3, stride);
      add(width, width * growth(kind), 1, 1);
    }
    if (past) past_ = register_module("downsample", past);
  }

  at::Tensor forward(const at::Tensor& in) {
    at::Tensor out = in;
    for (std::size_t i = 0; i < steps_.size(); ++i) {
      out = steps_[i].norm(steps_[i].convolution(out));
      if (i + 1 < steps_.size()) out = out.relu_();
    }
    return out.add_(past_ ? past_->forward(in) : in).relu_();
  }

 private:
  struct Step {
    torch::nn::Conv2d convolution;
    torch::nn::BatchNorm2d norm;
  };

  void add(std::int64_t from, std::int64_t to, std::int64_t side, std::int64_t stride) {
    const std::size_t number = steps_.size() + 1;
    torch::nn::Conv2d convolution = residual_convolution(from, to, side, stride);
    register_module(concat("conv", number), convolution);
    steps_.push_back(
        {convolution, register_module(concat("bn", number), torch::nn::BatchNorm2d(to))});
  }

  std::vector<Step> steps_;
  torch::nn::Sequential past_{nullptr};
};

class ResidualNetwork : public ClassifierModel {
 public:
  using Kind = ResidualBlock::Kind;
  using Depths = std::array<int, 4>;  ///< blocks of each layer

  ResidualNetwork(Kind kind, const Depths& depths, std::int64_t channels, std::int64_t classes)
      : first_(register_module(
            "conv1",
            torch::nn::Conv2d(
                torch::nn::Conv2dOptions(channels, 64, 7).stride(2).padding(3).bias(false)))),
        norm_(register_module("bn1", torch::nn::BatchNorm2d(64))) {
    std::int64_t from = 64;
    for (std::size_t i = 0; i < depths.size(); ++i) {
      const std::int64_t width = std::int64_t{64} << i;
      layers_[i] = register_module(concat("layer", i + 1),
                                   make_layer(kind, from, width, depths[i], i == 0 ? 1 : 2));
      from = width * ResidualBlock::growth(kind);
    }
    last_ = register_module("fc", torch::nn::Linear(from, classes));
    for (const auto& module : modules(false))
      if (auto* convolution = module->as<torch::nn::Conv2d>())
        torch::nn::init::kaiming_normal_(convolution->weight, 0, torch::kFanOut, torch::kReLU);
  }

  at::Tensor forward(const at::Tensor& images) override {
    at::Tensor out = norm_(first_(images)).relu_();
    out = at::max_pool2d(out, {3, 3}, {2, 2}, {1, 1});
    for (torch::nn::Sequential& layer : layers_) out = layer->forward(out);
    return last_(at::adaptive_avg_pool2d(out, {1, 1}).flatten(1));
  }

 private:
  static torch::nn::Sequential make_layer(Kind kind, std::int64_t from, std::int64_t width,
                                          int depth, std::int64_t stride) {
    torch::nn::Sequential layer;
    const auto past = ResidualBlock::shortcut(kind, from, width, stride);
    layer->push_back(ResidualBlock(kind, from, width, stride, past));
    for (int i = 1; i < depth; ++i)
      layer->push_back(ResidualBlock(kind, width * ResidualBlock::growth(kind), width, 1, nullptr));
    return layer;
  }

  torch::nn::Conv2d first_;
  torch::nn::BatchNorm2d norm_;
  std::array<torch::nn::Sequential, 4> layers_{nullptr, nullptr, nullptr, nullptr};
  torch::nn::Linear last_{nullptr};
};

/// 11,689,512 parameters for 3 channels and 1000 classes.
inline std::shared_ptr<ResidualNetwork> make_resnet18(std::int64_t channels, std::int64_t classes) {
  return std::make_shared<ResidualNetwork>(ResidualBlock::Kind::basic,
                                           ResidualNetwork::Depths{2, 2, 2, 2}, channels, classes);
}

/// 25,557,032 parameters for 3 channels and 1000 classes.
inline std::shared_ptr<ResidualNetwork> make_resnet50(std::int64_t channels, std::int64_t classes) {
  return std::make_shared<ResidualNetwork>(ResidualBlock::Kind::bottleneck,
                                           ResidualNetwork::Depths{3, 4, 6, 3}, channels, classes);
}

}  // namespace brigade
