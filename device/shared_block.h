#pragma once

// A block of memory that processes share by its descriptor, and that
// exists while one of them has it open or mapped: the device memory
// of the GPU emulator. Of a fixed size, never executable. Any thread.

#include <cstdint>

#include <brigade/result.h>
#include "base/mapping.h"
#include "base/owned_fd.h"

namespace brigade {

/// Zeros, at least so many bytes of them.
Result<OwnedFd> make_shared_block(std::uint64_t bytes);
/// An error where the descriptor is none of a block of that size.
Result<Mapping> map_shared_block(int fd, std::uint64_t bytes, MapMode mode);

}  // namespace brigade
