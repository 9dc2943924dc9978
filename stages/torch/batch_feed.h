#pragma once

// The tensors of batches where a model computes: on a CPU they are shared memory itself, which the
// call may read; on a device they are copied from there, as they are, while the device computes
// with the batches before (device/batch_buffers.h), and the batch goes back upstream when its copy
// is done. Pictures that lie on the device already (`memory: device`) are read there, and go back
// when the device has computed with them. `device: host`, the device of tests, computes on the CPU
// and gets its batches as a GPU does.
//
// One thread: (bring leave)*. What is brought is read before the next one is. What LibTorch
// computes with it is called by guarded().

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
