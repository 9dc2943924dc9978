#pragma once

// Existing memory of this process that is pinned so that a device reads it directly: the rings that
// a stage reads. Pinning holds the driver's locks, in all processes, until it is done; therefore it
// runs once, before training. It works in pieces of at most 1 GiB, because some kernels (6.11 to
// 6.13) reject more than 2 GiB at a time, and drivers reject 512 GiB and more. Read only, if the
// driver supports that; otherwise as writable memory, which it must then be: a program's ring of
// which it is the only reader is, a stage's is not (docs/decisions/device_memory.md). Its pages are
// populated first, so that memory which has run out is an error.
//
// Legal call order: pin copy*. Copies by one thread for each stream.

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <brigade/export.h>
#include <brigade/stage.h>
#include "device/device.h"

namespace brigade {

// Known limits of Linux on pinning, and the likely reason for a failed pin: from 6.11 to 6.13 a bug
// of the kernel rejects more than 2 GiB at a time, as if out of memory. Any thread.

/// The most that these kernels are known to pin.
inline constexpr std::uint64_t kPinnedBytesByBug = std::uint64_t{2} << 30;

/// "6.12.4": of the kernel that runs; empty: unknown.
BRIGADE_API std::string running_kernel();

/// Whether it is one of these kernels.
BRIGADE_API bool pins_little(std::string_view kernel);

/// Behind the device's own words where it refused to pin some of `bytes`: "; Linux 6.12.4 ...", or
/// nothing.
std::string kernel_cause(std::string_view kernel, std::uint64_t bytes);

inline constexpr std::uint64_t kPinnedChunkBytesMax = 1ull << 30;

class BRIGADE_API PinnedRegions {
 public:
  /// All of them, or none and the error, which names what is likely to be in the way.
  /// `chunk_bytes`: whole pages.
  static Result<PinnedRegions> pin(const std::shared_ptr<Device>& device,
                                   std::span<const InputMemory> memory,
                                   std::uint64_t chunk_bytes = kPinnedChunkBytesMax,
                                   const std::string& kernel = running_kernel());

  /// Of one region.
  bool contain(const std::byte* from, std::uint64_t bytes) const;
  /// Told piece by piece: no copy may lie in two that were pinned apart.
  Result<void> copy(DeviceAddress to, const std::byte* from, std::uint64_t bytes,
                    DeviceStream stream) const;

  std::uint64_t bytes() const;
  std::size_t chunks() const { return chunks_.size(); }
  std::int64_t took_ns() const { return took_ns_; }

 private:
  struct Region {
    const std::byte* data;
    std::uint64_t bytes;
  };

  Result<void> pin_all(std::span<const InputMemory> memory, const std::string& likely_cause);
  Result<RegisteredMemory> pin_chunk(std::byte* data, std::uint64_t bytes);

  std::shared_ptr<Device> device_;
  HostAccess access_ = HostAccess::read_only;
  std::vector<Region> regions_;
  std::uint64_t chunk_bytes_ = kPinnedChunkBytesMax;
  std::vector<RegisteredMemory> chunks_;
  std::int64_t took_ns_ = 0;
};

}  // namespace brigade
