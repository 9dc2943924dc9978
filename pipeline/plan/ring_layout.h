#pragma once

// The places of the arrays of a ring in its segment: slot headers of 32 bytes first, then
// each tensor's array, each starting on a page. Dense slots follow each other without a gap,
// so that consecutive slots are one contiguous batch [B, ...]. Slots of a ragged tensor are
// as far apart as its bound, rounded up to a cache line, and a second array NAME.shape (i64
// [rank]) has their shapes. Tensors of `memory: device` have the same layout in a block of
// the device's memory, without headers. Pure functions; sizes stick at kSaturated.

#include <vector>

#include "pipeline/plan/plan.h"

namespace brigade {

inline constexpr std::uint64_t kArrayAlignment = 4096;
inline constexpr std::uint64_t kRaggedSlotAlignment = 64;

/// The arrays of one ring without places, in order; NAME.shape follows its ragged tensor.
std::vector<PlanTensor> ring_tensors(const Ports& outputs);

/// Whether pages of such a ring come and go with what lies in it.
bool has_ragged(const std::vector<PlanTensor>& tensors);

/// Bytes of one sample, upper bound where ragged.
std::uint64_t tensor_bytes(const TensorType& type);

/// Bytes that one slot takes in all arrays, its header included.
std::uint64_t ring_slot_bytes(const std::vector<PlanTensor>& tensors);

/// Bytes of one sample where dimensions are as large as they are expected to be.
std::uint64_t expected_tensor_bytes(const TensorType& type);

/// Sets the offsets of ring.tensors, ring.bytes and ring.expected_bytes (multiples of
/// kArrayAlignment, of huge pages where it lies in these) for ring.slots. Slots of a sparse ring
/// take whole pages.
void lay_out_ring(PlanRing& ring);

/// The array with a ragged tensor's shapes: "image.shape".
std::string shape_tensor_name(const std::string& tensor);

}  // namespace brigade
