#include "device/uploader.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include <brigade/text.h>
#include "base/units.h"

namespace brigade {
namespace {

constexpr std::uint64_t kBufferBytes = 4 << 20;

}  // namespace

Result<std::unique_ptr<Uploader>> Uploader::create(std::shared_ptr<Device> device, Pin pin,
                                                   std::span<const InputMemory> memory) {
  std::unique_ptr<Uploader> self(new Uploader(std::move(device)));
  BRIGADE_TRY(self->prepare(pin, memory));
  return self;
}

Result<void> Uploader::prepare(Pin pin, std::span<const InputMemory> memory) {
  BRIGADE_ASSIGN(stream_, own<OwnedStream>(device_, device_->create_stream()));
  BRIGADE_ASSIGN(event_, own<OwnedEvent>(device_, device_->create_event()));
  BRIGADE_ASSIGN(completions_, Completions::create(device_));
  if (pin == Pin::no) return {};
  const Result<void> pinned = pin_all(memory);
  if (pinned) {
    report_ = concat("pinned ", format_size(pinned_->bytes()), " for device ", device_->name(),
                     " in ", format_nanoseconds(pinned_->took_ns()));
    return {};
  }
  pinned_.reset();
  if (pin == Pin::yes) return Error{pinned.error().message};
  report_ = concat("copies from pageable memory, which is slower: ", pinned.error().message);
  return {};
}

Result<void> Uploader::pin_all(std::span<const InputMemory> memory) {
  BRIGADE_ASSIGN(pinned_, PinnedRegions::pin(device_, memory));
  for (Buffer& buffer : buffers_) {
    BRIGADE_ASSIGN(buffer.memory,
                   own<PinnedMemory>(device_, device_->allocate_pinned(kBufferBytes)));
    BRIGADE_ASSIGN(buffer.read, own<OwnedEvent>(device_, device_->create_event()));
  }
  buffered_ = true;
  return {};
}

Result<void> Uploader::begin(DeviceStream user) {
  BRIGADE_TRY(check());
  BRIGADE_TRY(device_->record(event_.get(), user));
  return device_->make_wait(stream_.get(), event_.get());
}

Result<void> Uploader::begin_behind(DeviceEvent read) {
  BRIGADE_TRY(check());
  return device_->make_wait(stream_.get(), read);
}

Result<void> Uploader::copy(DeviceAddress to, const std::byte* from, std::uint64_t bytes) {
  if (pinned_ && pinned_->contain(from, bytes))
    return pinned_->copy(to, from, bytes, stream_.get());
  if (buffered_) return copy_buffered(to, from, bytes);
  return device_->copy_to_device(to, from, bytes, stream_.get());
}

Result<void> Uploader::copy_buffered(DeviceAddress to, const std::byte* from, std::uint64_t bytes) {
  while (bytes > 0) {
    Buffer& buffer = buffers_[next_buffer_++ % buffers_.size()];
    BRIGADE_TRY(device_->wait(buffer.read.get()));
    const std::uint64_t piece = std::min(bytes, kBufferBytes);
    std::memcpy(buffer.memory.get(), from, piece);
    BRIGADE_TRY(device_->copy_to_device(to, buffer.memory.get(), piece, stream_.get()));
    BRIGADE_TRY(device_->record(buffer.read.get(), stream_.get()));
    to = to + piece;
    from += piece;
    bytes -= piece;
  }
  return {};
}

Result<void> Uploader::finish(DeviceStream user, Lease kept) {
  // First: what the copies read is kept whatever fails then.
  const Result<void> ends = completions_->after(stream_.get(), std::move(kept));
  BRIGADE_TRY(device_->record(event_.get(), stream_.get()));
  BRIGADE_TRY(device_->make_wait(user, event_.get()));
  return ends;
}

Result<void> Uploader::finish_later(DeviceEvent done, Lease kept) {
  const Result<void> ends = completions_->after(stream_.get(), std::move(kept));
  BRIGADE_TRY(device_->record(done, stream_.get()));
  return ends;
}

}  // namespace brigade
