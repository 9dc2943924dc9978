#pragma once

// Provides the tensors of batches on the device of a model: on a CPU they are the shared
// memory itself, which the call may read; on a device they are copied unchanged while
// the device computes with earlier batches (device/batch_buffers.h), and the batch
// returns upstream when its copy is done. Images that are already on the device
// (`memory: device`) are read there, and return when the device has finished with them.
// `device: host`, the GPU emulator, computes on the CPU and gets its batches like a GPU.
//
// One thread: (bring leave)*. Each batch is read before the
// next one is requested. guarded() wraps the calls of LibTorch.

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
  /// Behind all that was told to compute with the batch, which gave `computed`, also where it
  /// failed halfway: what of the batch lies on the device stays as it is until that is done.
  Result<void> leave(const Inputs& in, Result<void> computed);
  /// Whether the device is there; after it was lost, why not.
  Result<void> check() const;
  /// torch_guarded(), but for the error of a device that is lost: where LibTorch is the first to
  /// meet that, its line says neither what is lost nor that nothing more can be skipped.
  template <class Fn>
  Result<void> guarded(Fn fn) const {
    const Result<void> computed = torch_guarded(fn);
    if (!computed) BRIGADE_TRY(check());
    return computed;
  }

 private:
  Result<void> open_tensors(const std::shared_ptr<Device>& device);
  Result<void> have_wait(DeviceStream stream);

  at::Device device_ = at::kCPU;
  std::unique_ptr<BatchBuffers> buffers_;  // null: there is no device
  // Of pictures that lie on it.
  std::shared_ptr<Device> tensors_device_;
  OwnedEvent computed_;
  std::unique_ptr<Completions> completions_;
};

}  // namespace brigade
