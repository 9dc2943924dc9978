#include "stages/torch/batch_feed.h"

#include <algorithm>

#include <brigade/text.h>
#include "device/open_device.h"
#include "device/uploader.h"

namespace brigade {
namespace {

/// LibTorch's default stream, on which all of it computes here; of the host's device this thread.
constexpr DeviceStream kDefaultStream = nullptr;
constexpr std::size_t kParts = 2;
constexpr const char* kImage = "image";

/// Of what is copied of the largest batch of any source.
std::uint64_t batch_bytes(const OpenContext& context) {
  std::uint64_t sample = 0;
  for (const std::string_view name : {"image", "label"}) {
    std::uint64_t most = 0;
    for (const TensorType& tensor : context.inputs.tensors)
      if (!tensor.on_device && (tensor.name == name || tensor.name.ends_with(concat('.', name))))
        most = std::max(most, tensor.bytes_max());
    sample += most;
  }
  return sample * static_cast<std::uint64_t>(context.samples_max);
}

/// LibTorch is told where that is: it would ask the driver, which need not know it of memory that
/// another process has made.
at::Tensor tensor_at(void* there, DType dtype, const Shape& shape, at::Device device) {
  const at::IntArrayRef sizes(shape.begin(), shape.end());
  return at::for_blob(there, sizes)
      .options(at::TensorOptions(scalar_type(dtype)).device(device))
      .target_device(device)
      .make_tensor();
}

/// `there`: on `device`, of the type and the sizes that `as` has.
at::Tensor tensor_at(DeviceAddress there, const TensorView& as, at::Device device) {
  return tensor_at(reinterpret_cast<void*>(there), as.dtype(), as.shape(), device);
}

BatchBuffers::Part part(const TensorView& tensor) { return {tensor.data(), tensor.bytes()}; }

}  // namespace

Result<void> BatchFeed::open(const OpenContext& context, at::Device device) {
  device_ = device;
  const bool on_host = context.device == "host";
  if (device.is_cpu() && !on_host) return {};
  BRIGADE_ASSIGN(std::shared_ptr<Device> there,
                 open_device(on_host ? "host" : concat("cuda:", device.index())));
  BRIGADE_ASSIGN(auto uploader,
                 Uploader::create(std::move(there), context.pin, context.input_memory));
  if (!uploader->report().empty()) context.reporter->log(uploader->report());
  BRIGADE_ASSIGN(buffers_,
                 BatchBuffers::create(std::move(uploader), std::max<std::uint64_t>(context.hold, 1),
                                      batch_bytes(context), kParts));
  return open_tensors(context.tensors_device);
}

Result<void> BatchFeed::open_tensors(const std::shared_ptr<Device>& device) {
  if (device == nullptr) return {};
  tensors_device_ = device;
  BRIGADE_ASSIGN(computed_, own<OwnedEvent>(device, device->create_event()));
  BRIGADE_ASSIGN(completions_, Completions::create(device));
  return {};
}

Result<BatchFeed::Tensors> BatchFeed::bring(const Inputs& in, bool images_stay) {
  const bool there = in.on_device(kImage);
  BRIGADE_CHECK(!there || tensors_device_ != nullptr, "images on a device that was not opened");
  const TensorView label = in["label"];
  Tensors tensors;
  if (there) {
    const DeviceTensor image = in.device_tensor(kImage);
    tensors.images = tensor_at(image.data, image.dtype, *image.shape, device_);
  } else {
    tensors.images = torch_view(in[kImage]);
  }
  tensors.labels = torch_view(label);
  if (!buffers_) return tensors;
  const Lease kept = in.may_keep() ? in.keep() : nullptr;
  std::vector<BatchBuffers::Part> parts = {part(label)};
  if (!there && !images_stay) parts.push_back(part(in[kImage]));
  BRIGADE_ASSIGN(const auto places, buffers_->bring(parts, kDefaultStream, kept));
  tensors.labels = tensor_at(places[0], label, device_);
  if (places.size() > 1) tensors.images = tensor_at(places[1], in[kImage], device_);
  return tensors;
}

Result<void> BatchFeed::leave(const Inputs& in, Result<void> computed) {
  if (!in.on_device(kImage)) return computed;
  const Result<void> left = in.may_keep() ? completions_->after(kDefaultStream, in.keep())
                                          : have_wait(in.device_tensor(kImage).stream);
  return computed ? left : computed;
}

Result<void> BatchFeed::check() const {
  if (tensors_device_) BRIGADE_TRY(tensors_device_->check());
  if (!buffers_) return {};
  BRIGADE_TRY(buffers_->uploader().check());
  return buffers_->uploader().shared_device()->check();
}

Result<void> BatchFeed::have_wait(DeviceStream stream) {
  BRIGADE_TRY(tensors_device_->record(computed_.get(), kDefaultStream));
  return tensors_device_->make_wait(stream, computed_.get());
}

}  // namespace brigade
