#include "pipeline/plan/ring_layout.h"

#include <algorithm>

#include "base/arithmetic.h"

namespace brigade {
namespace {

PlanTensor make_tensor(const TensorType& type) {
  PlanTensor tensor;
  tensor.type = type;
  tensor.slot_bytes = tensor_bytes(type);
  tensor.slot_stride =
      type.ragged() ? round_up(tensor.slot_bytes, kRaggedSlotAlignment) : tensor.slot_bytes;
  return tensor;
}

/// Of one slot. A page that a slot has touched it keeps, but for what it gives back as a whole.
std::uint64_t expected_slot_bytes(const PlanTensor& tensor) {
  if (!tensor.type.ragged()) return tensor.slot_stride;
  return std::min(tensor.slot_stride,
                  round_up(expected_tensor_bytes(tensor.type), kArrayAlignment));
}

}  // namespace

std::uint64_t expected_tensor_bytes(const TensorType& type) {
  std::uint64_t bytes = dtype_bytes(type.dtype);
  for (const Dim& dim : type.shape)
    bytes = multiply_saturating(bytes, static_cast<std::uint64_t>(dim.expected));
  return bytes;
}

std::string shape_tensor_name(const std::string& tensor) { return tensor + ".shape"; }

std::uint64_t tensor_bytes(const TensorType& type) {
  std::uint64_t bytes = dtype_bytes(type.dtype);
  for (const Dim& dim : type.shape)
    bytes = multiply_saturating(bytes, static_cast<std::uint64_t>(dim.size));
  return bytes;
}

std::vector<PlanTensor> ring_tensors(const Ports& outputs) {
  std::vector<PlanTensor> tensors;
  for (const TensorType& type : outputs.tensors) {
    tensors.push_back(make_tensor(type));
    if (!type.ragged()) continue;
    const auto rank = static_cast<std::int64_t>(type.shape.size());
    tensors.push_back(make_tensor({shape_tensor_name(type.name), i64, {Dim(rank)}}));
  }
  return tensors;
}

bool has_ragged(const std::vector<PlanTensor>& tensors) {
  return std::any_of(tensors.begin(), tensors.end(),
                     [](const PlanTensor& tensor) { return tensor.type.ragged(); });
}

std::uint64_t ring_slot_bytes(const std::vector<PlanTensor>& tensors) {
  std::uint64_t bytes = kSlotHeaderBytes;
  for (const PlanTensor& tensor : tensors) bytes = add_saturating(bytes, tensor.slot_stride);
  return bytes;
}

void lay_out_ring(PlanRing& ring) {
  std::uint64_t end = multiply_saturating(ring.slots, kSlotHeaderBytes);
  ring.device_bytes = 0;
  for (PlanTensor& tensor : ring.tensors) {
    std::uint64_t& last = tensor.type.on_device ? ring.device_bytes : end;
    tensor.offset = round_up(last, kArrayAlignment);
    last = add_saturating(tensor.offset, multiply_saturating(ring.slots, tensor.slot_stride));
  }
  ring.bytes = round_up(end, ring.page_bytes());
  ring.expected_bytes = ring.bytes;
  if (!ring.sparse || ring.bytes == kSaturated) return;
  for (const PlanTensor& tensor : ring.tensors)
    ring.expected_bytes -= ring.slots * (tensor.slot_stride - expected_slot_bytes(tensor));
  ring.expected_bytes = std::min(round_up(ring.expected_bytes, kArrayAlignment), ring.bytes);
}

}  // namespace brigade
