#pragma once

// Known limits of Linux on pinning memory for a device, and the likely
// reason for a failed pin. From 6.11 to 6.13 a bug of the kernel
// rejects more than 2 GiB at a time, as if out of memory. Any thread.

#include <cstdint>
#include <string>
#include <string_view>

#include <brigade/export.h>

namespace brigade {

/// The most that these kernels are known to pin.
inline constexpr std::uint64_t kPinnedBytesByBug = std::uint64_t{2} << 30;

/// "6.12.4": of the kernel that runs; empty: unknown.
BRIGADE_API std::string running_kernel();

/// Whether it is one of these kernels.
BRIGADE_API bool pins_little(std::string_view kernel);

/// Behind the device's own words where it refused to pin some of `bytes`: "; Linux 6.12.4 ...", or
/// nothing.
std::string kernel_cause(std::string_view kernel, std::uint64_t bytes);

}  // namespace brigade
