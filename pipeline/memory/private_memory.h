#pragma once

// A bound on the private memory of a worker, for stages that state one
// (Contract::private_bytes): an allocation beyond it fails in malloc, as
// an error of that sample, before the kernel kills the largest process.

#include <cstdint>

namespace brigade {

/// What is not for samples: stacks of threads, modules that are opened late, malloc's own arenas.
inline constexpr std::uint64_t kPrivateRoomBytes = std::uint64_t{512} << 20;

/// This process may take `bytes` and kPrivateRoomBytes more than it has now (RLIMIT_DATA; memory
/// that is shared does not count). Call it when the stage is open. Nothing where a limit is tighter
/// already, or where a sanitizer has terabytes mapped.
void limit_private_memory(std::uint64_t bytes);

}  // namespace brigade
