#pragma once

// Rows of ragged tensors: how much of a row is used follows from its sizes, and pages that a
// smaller sample no longer needs go back to the system where the pool is sparse.

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

/// The row held a sample of sizes `before` (zeros at first) and now holds one of sizes `now`.
inline void shrink_row(std::byte* row, std::uint64_t element_bytes, const std::int64_t* before,
                       const std::int64_t* now, int rank) {
  const std::uint64_t bytes_before = element_bytes * element_count(before, rank);
  const std::uint64_t bytes = element_bytes * element_count(now, rank);
  if (bytes_before >= bytes + kShrinkBytesMin) release_pages(row + bytes, bytes_before - bytes);
}

}  // namespace brigade
