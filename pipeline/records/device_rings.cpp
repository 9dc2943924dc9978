#include "pipeline/records/device_rings.h"

#include <brigade/text.h>
#include "device/open_device.h"

namespace brigade {
namespace {

/// With one replica, reader and writer of one `device:` have the same one.
Result<std::shared_ptr<Device>> device_of(const PlanStage& stage) {
  BRIGADE_ASSIGN(std::shared_ptr<Device> device, open_device(stage.device));
  if (device == nullptr)
    return Error{concat("`memory: device` needs a GPU, and `device: ", stage.device,
                        "` found none (see nvidia-smi); omit `memory:`")};
  return device;
}

}  // namespace

Result<OwnedFd> make_device_memory(const PlanStage& stage) {
  BRIGADE_ASSIGN(const std::shared_ptr<Device> device, device_of(stage));
  return device->make_shared(stage.ring.device_bytes);
}

Result<std::unique_ptr<DeviceRings>> DeviceRings::map(const Plan& plan, const PlanStage& stage,
                                                      std::span<const DeviceGrant> grants) {
  if (grants.empty()) return std::unique_ptr<DeviceRings>();
  std::unique_ptr<DeviceRings> self(new DeviceRings(plan));
  BRIGADE_TRY(self->open(stage));
  for (const DeviceGrant& grant : grants) BRIGADE_TRY(self->map(grant));
  return self;
}

DeviceRings::~DeviceRings() {
  if (event_.get() != nullptr)
    (void)wait();  // an error: the device is lost, and nothing is under way
}

Result<void> DeviceRings::open(const PlanStage& stage) {
  BRIGADE_ASSIGN(device_, device_of(stage));
  BRIGADE_ASSIGN(stream_, own<OwnedStream>(device_, device_->create_stream()));
  BRIGADE_ASSIGN(event_, own<OwnedEvent>(device_, device_->create_event()));
  return {};
}

Result<void> DeviceRings::map(const DeviceGrant& grant) {
  const OwnedFd fd(grant.fd);  // closed once it is mapped, or refused
  if (!plan_.stages.has(grant.stage))
    return Error{concat("a grant names the unknown stage ", grant.stage.value())};
  const PlanStage& stage = plan_.stages[grant.stage];
  const HostAccess access = grant.writable ? HostAccess::read_write : HostAccess::read_only;
  auto mapped = own<SharedDeviceMemory>(
      device_, device_->map_shared(fd.get(), stage.ring.device_bytes, access));
  if (!mapped) return mapped.error().within(concat("the device memory of ", quote(stage.name)));
  rings_.emplace_back(grant.stage, std::move(*mapped));
  return {};
}

void DeviceRings::place(ByStage<SlotRing>& rings) const {
  for (const auto& [stage, memory] : rings_) {
    const PlanRing& ring = plan_.stages[stage].ring;
    for (std::size_t i = 0; i < ring.tensors.size(); ++i) {
      const DeviceAddress at = memory.get() + ring.tensors[i].offset;
      if (ring.tensors[i].type.on_device) rings[stage].place(i, reinterpret_cast<std::byte*>(at));
    }
  }
}

Result<void> DeviceRings::wait() {
  BRIGADE_TRY(device_->record(event_.get(), stream_.get()));
  return device_->wait(event_.get());
}

}  // namespace brigade
