#pragma once

// The tensors of batches where a model computes: on a CPU they are shared memory itself, which the
// call may read; on a device they are copied from there, as they are, while the device computes
// with the batches before (device/batch_buffers.h), and the batch goes back upstream when its copy
// is done. `device: host`, the device of tests, computes on the CPU and gets its batches as a GPU
// does.
//
// One thread. What is brought is read before the next one is.

#include <memory>

#include <brigade/stage.h>
#include "device/batch_buffers.h"
#include "stages/torch/torch_adapter.h"

namespace brigade {

class BatchFeed {
 public:
  struct Tensors {
    at::Tensor images;
    at::Tensor labels;
  };

  /// `device`: that of the model. Pins what the context says, and says what that took.
  Result<void> open(const OpenContext& context, at::Device device);

  /// `image` and `label` of a batch. `images_stay`: they are shared memory all the same.
  Result<Tensors> bring(const Inputs& in, bool images_stay);
  /// Whether the device is there; after it was lost, why not.
  Result<void> check() const { return buffers_ ? buffers_->uploader().check() : Result<void>(); }

 private:
  at::Device device_ = at::kCPU;
  std::unique_ptr<BatchBuffers> buffers_;  // null: there is no device
};

}  // namespace brigade
