#pragma once

// Slots of ragged tensors: how much of a slot is used follows from its sizes. Where the ring is
// sparse a slot keeps the pages that the plan has counted for it, whatever comes and goes there;
// what a larger sample has taken beyond them goes back to the system with the next smaller one.

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "transports/memory_file.h"

namespace brigade {

inline constexpr std::uint64_t kShrinkBytesMin = 256 << 10;  // less is not worth a system call

inline std::uint64_t element_count(const std::int64_t* sizes, int rank) {
  std::uint64_t product = 1;
  for (int i = 0; i < rank; ++i) product *= static_cast<std::uint64_t>(sizes[i]);
  return product;
}

/// The slot held a sample of sizes `before` (zeros at first) and now holds one of sizes `now`.
/// `expected_bytes`: of a slot, as the plan has it (expected_tensor_bytes()).
inline void shrink_slot(std::byte* slot, std::uint64_t expected_bytes, std::uint64_t element_bytes,
                        const std::int64_t* before, const std::int64_t* now, int rank) {
  const std::uint64_t bytes_before = element_bytes * element_count(before, rank);
  const std::uint64_t kept = std::max(element_bytes * element_count(now, rank), expected_bytes);
  if (bytes_before >= kept + kShrinkBytesMin) release_pages(slot + kept, bytes_before - kept);
}

}  // namespace brigade
