#pragma once

// What Linux is known to refuse to pin for a device, and why a pin that was refused may have been.
// From 6.11 to 6.13 a bug of the kernel refuses more than 2 GiB at once, as memory that ran out.
// Any thread.

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
