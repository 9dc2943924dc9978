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

/// Of the largest batch of any source.
std::uint64_t batch_bytes(const OpenContext& context) {
  std::uint64_t sample = 0;
  for (const std::string_view name : {"image", "label"}) {
    std::uint64_t most = 0;
    for (const TensorType& tensor : context.inputs.tensors)
      if (tensor.name == name || tensor.name.ends_with(concat('.', name)))
        most = std::max(most, tensor.bytes_max());
    sample += most;
  }
  return sample * static_cast<std::uint64_t>(context.samples_max);
}

/// `there`: on `device`, of the type and the sizes that `as` has.
at::Tensor tensor_at(DeviceAddress there, const TensorView& as, at::Device device) {
  const at::IntArrayRef sizes(as.shape().begin(), as.shape().end());
  return at::from_blob(reinterpret_cast<void*>(there), sizes,
                       at::TensorOptions(scalar_type(as.dtype())).device(device));
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
  return {};
}

Result<BatchFeed::Tensors> BatchFeed::bring(const Inputs& in, bool images_stay) {
  const TensorView image = in["image"];
  const TensorView label = in["label"];
  if (!buffers_) return Tensors{torch_view(image), torch_view(label)};
  const Lease kept = in.may_keep() ? in.keep() : nullptr;
  const BatchBuffers::Part parts[kParts] = {part(label), part(image)};
  const std::size_t count = images_stay ? 1 : kParts;
  BRIGADE_ASSIGN(const auto places, buffers_->bring({parts, count}, kDefaultStream, kept));
  Tensors tensors{torch_view(image), tensor_at(places[0], label, device_)};
  if (!images_stay) tensors.images = tensor_at(places[1], image, device_);
  return tensors;
}

}  // namespace brigade
