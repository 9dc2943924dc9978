#include <cstring>
#include <memory>

#include <brigade/text.h>
#include "device/uploader.h"
#include "stages/device/device_stages.h"

namespace brigade {
namespace {

struct CopyParams {
  std::string tensor;
};

Result<Ports> copied(const CopyParams& params, const Ports& in) {
  const TensorType* const type = in.find(params.tensor);
  if (type != nullptr && type->ragged())
    return Error{concat("expected a tensor of one size, found ", type->text(),
                        "; crop or resize all samples upstream to one size")};
  if (type != nullptr) return Ports{*type};
  std::vector<std::string> names;
  for (const TensorType& tensor : in.tensors) names.push_back(tensor.name);
  return Error{
      concat("unknown tensor ", quote(params.tensor), "; the input has ", join(names, ", "))};
}

std::vector<std::string> tensor_of(const CopyParams& params) { return {params.tensor}; }

DeviceAddress address(const DeviceTensor& tensor) {
  return static_cast<DeviceAddress>(reinterpret_cast<std::uintptr_t>(tensor.data));
}

std::byte* bytes_of(void* data) { return static_cast<std::byte*>(data); }

/// Between memories of the host only, it copies by itself; else the device does, and the replica
/// waits for it. What it uploads it reads where it lies, pinned as `pin:` says.
class DeviceCopy : public Stage {
 public:
  Result<void> open(const OpenContext& context) override {
    tensor_ = context.params<CopyParams>().tensor;
    device_ = context.tensors_device;
    const TensorType* const made = context.outputs.find(tensor_);
    if (made == nullptr || !made->on_device) return {};
    BRIGADE_ASSIGN(uploader_, Uploader::create(device_, context.pin, context.input_memory));
    if (!uploader_->report().empty()) context.reporter->log(uploader_->report());
    return {};
  }

  Result<Next> process(const Inputs& in, Outputs& out) override {
    BRIGADE_TRY(copy(in, out));
    return Next::emit;
  }

 private:
  Result<void> copy(const Inputs& in, Outputs& out) {
    if (out.on_device(tensor_)) {
      const DeviceTensor to = out.device_tensor(tensor_);
      const TensorView from = in[tensor_];
      BRIGADE_TRY(uploader_->begin(to.stream));
      BRIGADE_TRY(
          uploader_->copy(address(to), static_cast<const std::byte*>(from.data()), from.bytes()));
      return uploader_->finish(to.stream, nullptr);
    }
    const TensorSlot to = out[tensor_];
    if (in.on_device(tensor_)) {
      const DeviceTensor from = in.device_tensor(tensor_);
      return device_->copy_to_host(bytes_of(to.data()), address(from), to.bytes(), from.stream);
    }
    std::memcpy(to.data(), in[tensor_].data(), to.bytes());
    return {};
  }

  std::string tensor_;
  std::shared_ptr<Device> device_;
  std::unique_ptr<Uploader> uploader_;  // null: what it writes does not lie on a device
};

Contract<CopyParams> copy_contract(std::string type, std::string help) {
  return Contract<CopyParams>(std::move(type), std::move(help))
      .transform()
      .takes(Takes::batches)
      .param("tensor", &CopyParams::tensor, "tensor to copy")
      .required()
      .rest_passes()
      .outputs(copied);
}

}  // namespace

void add_to_device(StageTypes& types) {
  types.add<DeviceCopy>(
      copy_contract("to_device",
                    "Copies a tensor to a device, for downstream stages that compute there.")
          .writes_on_device(tensor_of)
          .uploads(tensor_of)
          .example("transform: to_device\nfrom: images\nparams: {tensor: image}\ndevice: "
                   "cuda\nmemory: device\n"));
}

void add_from_device(StageTypes& types) {
  types.add<DeviceCopy>(
      copy_contract("from_device", "Copies a tensor from a device to host memory.")
          .reads_on_device(tensor_of)
          .example(
              "transform: from_device\nfrom: on_device\nparams: {tensor: image}\ndevice: cuda\n"));
}

}  // namespace brigade
