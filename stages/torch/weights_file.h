#pragma once

// Weights of a model from a file, for training that starts from a trained
// model: a file of Python's `torch.save(dict(model.state_dict()), FILE)` or
// `torch.jit.save`, or a checkpoint of torch_classifier. LibTorch reads it.

#include <torch/nn/module.h>

#include <string>

#include <brigade/result.h>

namespace brigade {

/// What a model takes of the file.
enum class WeightsFor : std::uint8_t {
  all_layers,
  all_but_the_last  ///< which stays as it was made, whatever the file has of it
};

/// Copies the file's tensors into the parameters and buffers of `model` that have their names; a
/// prefix "module." (of DistributedDataParallel) is left out. Gives how many. Errors name the
/// first tensor that is missing, that the model does not have, or that has another shape, and say
/// what to do; the model is then as it was. Exceptions of LibTorch are the caller's.
Result<std::size_t> load_weights(torch::nn::Module& model, const std::string& path,
                                 WeightsFor which);

}  // namespace brigade
