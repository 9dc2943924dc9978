#pragma once

// A tensor of a record before its data is known, and the sizes of ragged ones.
//
// The sizes of a ragged tensor must match its contract: at most the bound if it has
// one, otherwise equal to the size. Readers rely on both. They determine the used part
// of a slot. In a sparse ring, a slot keeps the pages that the plan counts for it;
// additional pages of a larger sample return to the system with the next smaller one.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>

#include <brigade/record.h>
#include <brigade/result.h>
#include <brigade/types.h>
#include "transports/memory_file.h"

namespace brigade {

/// The field of a Frame for a tensor of this type, before its data is known: for a per-batch stage
/// with the batch dimension of `slots` in front.
inline Field make_field(const TensorType& type, std::string name, bool batched,
                        std::uint64_t slots) {
  Field field;
  field.name = std::move(name);
  field.dtype = type.dtype;
  field.ragged = type.ragged();
  field.on_device = type.on_device;
  field.sample_bounds = type.bounds();
  field.sample_shape = field.sample_bounds;
  if (batched) field.shape.push_back(static_cast<std::int64_t>(slots));
  for (const std::int64_t size : field.sample_bounds) field.shape.push_back(size);
  field.bounds = field.shape;
  return field;
}

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

/// A bit for each dimension of a sample that has an upper bound; 0: all sizes are given.
using VaryingSizes = std::uint32_t;
VaryingSizes varying_sizes(const TensorType& type);

/// `sizes`: one for each dimension of a sample of `field`. The error names the tensor, what its
/// contract says and what was found.
Result<void> check_shape(const Field& field, const std::int64_t* sizes, VaryingSizes varying);

}  // namespace brigade
