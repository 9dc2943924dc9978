#include "device/pinned_regions.h"

#include <sys/mman.h>
#include <sys/utsname.h>

#include <algorithm>
#include <array>
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
    return Error{
        concat("cannot populate ", format_size(bytes), " of memory to pin (", errno_text(), ')')};
  }
  return {};
}

}  // namespace

Result<PinnedRegions> PinnedRegions::pin(const std::shared_ptr<Device>& device,
                                         std::span<const InputMemory> memory,
                                         std::uint64_t chunk_bytes, const std::string& kernel) {
  PinnedRegions self;
  const std::int64_t began = monotonic_ns();
  self.device_ = device;
  self.chunk_bytes_ = chunk_bytes;
  std::uint64_t bytes = 0;
  for (const InputMemory& region : memory) bytes += region.bytes;
  BRIGADE_TRY(self.pin_all(memory, kernel_cause(kernel, bytes)));
  self.took_ns_ = monotonic_ns() - began;
  return self;
}

Result<void> PinnedRegions::pin_all(std::span<const InputMemory> memory,
                                    const std::string& likely_cause) {
  for (const InputMemory& region : memory) {
    for (std::uint64_t at = 0; at < region.bytes; at += chunk_bytes_) {
      std::byte* const data = const_cast<std::byte*>(region.data) + at;  // NOLINT: it is only read
      const std::uint64_t bytes = std::min(chunk_bytes_, region.bytes - at);
      BRIGADE_TRY(populate(data, bytes));
      auto pinned = pin_chunk(data, bytes);
      if (!pinned) return Error{pinned.error().message + likely_cause, pinned.error().refusal};
      chunks_.push_back(std::move(*pinned));
    }
    regions_.push_back({region.data, region.bytes});
  }
  return {};
}

/// To be read only, unless the first one cannot be.
Result<RegisteredMemory> PinnedRegions::pin_chunk(std::byte* data, std::uint64_t bytes) {
  auto pinned = own<RegisteredMemory>(device_, device_->register_host(data, bytes, access_));
  if (pinned || access_ == HostAccess::read_write || !chunks_.empty()) return pinned;
  access_ = HostAccess::read_write;
  auto to_write = own<RegisteredMemory>(device_, device_->register_host(data, bytes, access_));
  return to_write ? std::move(to_write) : std::move(pinned);  // the first reason is the better one
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
  return Error{"a copy from memory that is not pinned"};
}

std::uint64_t PinnedRegions::bytes() const {
  std::uint64_t sum = 0;
  for (const Region& region : regions_) sum += region.bytes;
  return sum;
}

std::string running_kernel() {
  utsname name{};
  return uname(&name) == 0 ? name.release : "";
}

bool pins_little(std::string_view kernel) {
  constexpr std::array<std::string_view, 3> kReleases = {"6.11", "6.12", "6.13"};
  return std::any_of(kReleases.begin(), kReleases.end(), [&](std::string_view release) {
    const auto rest = strip_prefix(kernel, release);
    return rest && (rest->empty() || rest->front() < '0' || rest->front() > '9');
  });
}

std::string kernel_cause(std::string_view kernel, std::uint64_t bytes) {
  if (bytes <= kPinnedBytesByBug || !pins_little(kernel)) return "";
  return concat("; out of ", format_size(bytes), " in total, Linux ", kernel,
                " may reject all above ", format_size(kPinnedBytesByBug),
                ", a bug of 6.11 to 6.13");
}

}  // namespace brigade
