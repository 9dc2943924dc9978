#include "device/batch_buffers.h"

#include <utility>

#include <brigade/check.h>
#include "base/arithmetic.h"

namespace brigade {
namespace {

/// Where a part may begin: as cudaMalloc() has it, for the widest loads.
constexpr std::uint64_t kPartAlignment = 256;

}  // namespace

Result<std::unique_ptr<BatchBuffers>> BatchBuffers::create(std::unique_ptr<Uploader> uploader,
                                                           std::size_t count, std::uint64_t bytes,
                                                           std::size_t parts) {
  const std::uint64_t room = bytes + parts * kPartAlignment;
  std::unique_ptr<BatchBuffers> self(new BatchBuffers(std::move(uploader), room));
  const std::shared_ptr<Device> device = self->uploader_->shared_device();
  for (std::size_t i = 0; i < count; ++i) {
    Buffer& buffer = self->buffers_.emplace_back();
    BRIGADE_ASSIGN(buffer.memory, own<DeviceMemory>(device, device->allocate(room)));
    BRIGADE_ASSIGN(buffer.read, own<OwnedEvent>(device, device->create_event()));
  }
  return self;
}

Result<std::vector<DeviceAddress>> BatchBuffers::bring(std::span<const Part> parts,
                                                       DeviceStream user, Lease kept) {
  if (brought_ > 0) {
    const Buffer& last = buffers_[(brought_ - 1) % buffers_.size()];
    BRIGADE_TRY(uploader_->device().record(last.read.get(), user));
  }
  const Buffer& buffer = buffers_[brought_ % buffers_.size()];
  BRIGADE_TRY(uploader_->begin_behind(buffer.read.get()));
  ++brought_;
  std::vector<DeviceAddress> places;
  std::uint64_t at = 0;
  for (const Part& part : parts) {
    BRIGADE_CHECK(at + part.bytes <= bytes_, at, part.bytes, bytes_);
    places.push_back(buffer.memory.get() + at);
    BRIGADE_TRY(
        uploader_->copy(places.back(), static_cast<const std::byte*>(part.data), part.bytes));
    at += round_up(part.bytes, kPartAlignment);
  }
  const bool waits = kept == nullptr;
  BRIGADE_TRY(uploader_->finish(user, std::move(kept)));
  if (waits) BRIGADE_TRY(uploader_->wait());
  return places;
}

}  // namespace brigade
