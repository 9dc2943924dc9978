#pragma once

// The faults of the GPU emulator (host_device.h), set by tests or
// the variable BRIGADE_HOST_DEVICE. docs/GPU.md lists the words.

#include <chrono>
#include <cstdint>
#include <string_view>

#include <brigade/result.h>

namespace brigade {

inline constexpr const char* kHostDeviceVariable = "BRIGADE_HOST_DEVICE";

struct HostDeviceOptions {
  std::chrono::microseconds delay{
      0};  ///< before each copy; every second one of a stream twice that
  std::uint64_t memory_bytes = ~0ull;  ///< of the device
  std::uint64_t pinned_bytes = ~0ull;  ///< that may be pinned
  std::uint64_t fail_copy = ~0ull;     ///< the copy of this number, from 0, fails midway
  std::uint64_t events = ~0ull;        ///< that there may be at a time
  bool read_only_refused = false;      ///< pinning memory to be read only
  bool checks = true;                  ///< that nobody writes what is being copied
  bool early = false;  ///< events pass before what was told: for tests of who waits for them

  /// "delay_us=500 memory=64MiB pinned=0 fail_copy=7 events=9 read_only_refused checks=0 early".
  static Result<HostDeviceOptions> parse(std::string_view text);
};

}  // namespace brigade
