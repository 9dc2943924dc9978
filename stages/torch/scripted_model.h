#pragma once

// A module of TorchScript, as Python's torch.jit.save wrote it, as a model of torch_classifier. Its
// parameters and buffers are those of a tree of modules with the same names, so that optimizers,
// weights and checkpoints see it as any other model. It runs operation by operation: code that
// LibTorch would compile after some steps gives other bits in a run that resumes from a checkpoint.

#include <cstdint>
#include <memory>
#include <string>

#include <brigade/result.h>
#include <brigade/tensor.h>
#include "stages/torch/classifier_model.h"

namespace brigade {

/// On the CPU. `picture`: [C, H, W]. A picture of zeros goes through it, so that what does not fit
/// is found before anything is read. Errors begin with the path: a file that is no TorchScript, a
/// module that fails on that picture or gives something else than `classes` scores; and, where it
/// `trains`, one that has no parameters to train, or a state that no checkpoint would have.
Result<std::shared_ptr<ClassifierModel>> load_scripted_model(const std::string& path,
                                                             const Shape& picture,
                                                             std::int64_t classes, bool trains);

}  // namespace brigade
