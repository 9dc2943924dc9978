#include "device/pinned_regions.h"

#include <sys/mman.h>

#include <algorithm>
#include <cerrno>

#include <brigade/text.h>
#include "base/clock.h"
#include "base/io.h"
#include "base/units.h"

#ifndef MADV_POPULATE_READ
#define MADV_POPULATE_READ 22
#endif

namespace brigade {
namespace {

/// As loads from all pages would.
Result<void> populate(const std::byte* at, std::uint64_t bytes) {
  while (madvise(const_cast<std::byte*>(at), bytes, MADV_POPULATE_READ) != 0) {  // NOLINT
    if (errno == EINTR || errno == EAGAIN) continue;
    if (errno == EINVAL) return {};  // before Linux 5.14: whoever made the memory populates it
    return Error{concat("there is no memory for ", format_size(bytes), " that were to be pinned (",
                        errno_text(), ')')};
  }
  return {};
}

}  // namespace

Result<PinnedRegions> PinnedRegions::pin(const std::shared_ptr<Device>& device,
                                         std::span<const InputMemory> memory,
                                         std::uint64_t chunk_bytes) {
  PinnedRegions self;
  const std::int64_t began = monotonic_ns();
  self.device_ = device;
  self.chunk_bytes_ = chunk_bytes;
  HostAccess access = HostAccess::read_only;
  for (const InputMemory& region : memory) {
    for (std::uint64_t at = 0; at < region.bytes; at += chunk_bytes) {
      std::byte* const data = const_cast<std::byte*>(region.data) + at;  // NOLINT: it is only read
      const std::uint64_t bytes = std::min(chunk_bytes, region.bytes - at);
      BRIGADE_TRY(populate(data, bytes));
      auto pinned = own<RegisteredMemory>(device, device->register_host(data, bytes, access));
      if (!pinned && access == HostAccess::read_only && self.chunks_.empty()) {
        const Error read_only = pinned.error();
        access = HostAccess::read_write;
        pinned = own<RegisteredMemory>(device, device->register_host(data, bytes, access));
        if (!pinned) return read_only;  // the first reason is the better one
      }
      if (!pinned) return pinned.error();
      self.chunks_.push_back(std::move(*pinned));
    }
    self.regions_.push_back({region.data, region.bytes});
  }
  self.took_ns_ = monotonic_ns() - began;
  return self;
}

bool PinnedRegions::contain(const std::byte* from, std::uint64_t bytes) const {
  return std::any_of(regions_.begin(), regions_.end(), [&](const Region& region) {
    return from >= region.data && from + bytes <= region.data + region.bytes;
  });
}

Result<void> PinnedRegions::copy(DeviceAddress to, const std::byte* from, std::uint64_t bytes,
                                 DeviceStream stream) const {
  for (const Region& region : regions_) {
    if (from < region.data || from >= region.data + region.bytes) continue;
    auto at = static_cast<std::uint64_t>(from - region.data);
    while (bytes > 0) {
      const std::uint64_t piece = std::min(bytes, chunk_bytes_ - at % chunk_bytes_);
      BRIGADE_TRY(device_->copy_to_device(to, region.data + at, piece, stream));
      to = to + piece;
      at += piece;
      bytes -= piece;
    }
    return {};
  }
  return Error{"a copy from memory that was not pinned"};
}

std::uint64_t PinnedRegions::bytes() const {
  std::uint64_t sum = 0;
  for (const Region& region : regions_) sum += region.bytes;
  return sum;
}

}  // namespace brigade
