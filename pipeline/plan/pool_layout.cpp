#include "pipeline/plan/pool_layout.h"

#include <algorithm>

#include "pipeline/plan/arithmetic.h"

namespace brigade {
namespace {

PlanTensor make_tensor(const TensorType& type) {
  PlanTensor tensor;
  tensor.type = type;
  tensor.row_bytes = tensor_bytes(type);
  tensor.row_stride =
      type.ragged() ? round_up(tensor.row_bytes, kRaggedRowAlignment) : tensor.row_bytes;
  return tensor;
}

/// Of one row. A page that a row has touched it keeps, but for what it gives back as a whole.
std::uint64_t expected_row_bytes(const PlanTensor& tensor) {
  if (!tensor.type.ragged()) return tensor.row_stride;
  return std::min(tensor.row_stride, round_up(expected_tensor_bytes(tensor.type), kArrayAlignment));
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

std::vector<PlanTensor> pool_tensors(const Ports& outputs) {
  std::vector<PlanTensor> tensors;
  for (const TensorType& type : outputs.tensors) {
    tensors.push_back(make_tensor(type));
    if (!type.ragged()) continue;
    const auto rank = static_cast<std::int64_t>(type.shape.size());
    tensors.push_back(make_tensor({shape_tensor_name(type.name), i64, {Dim(rank)}}));
  }
  return tensors;
}

std::uint64_t pool_row_bytes(const std::vector<PlanTensor>& tensors) {
  std::uint64_t bytes = kRowHeaderBytes;
  for (const PlanTensor& tensor : tensors) bytes = add_saturating(bytes, tensor.row_stride);
  return bytes;
}

void lay_out_pool(PlanPool& pool) {
  std::uint64_t end = multiply_saturating(pool.rows, kRowHeaderBytes);
  for (PlanTensor& tensor : pool.tensors) {
    tensor.offset = round_up(end, kArrayAlignment);
    end = add_saturating(tensor.offset, multiply_saturating(pool.rows, tensor.row_stride));
  }
  pool.bytes = round_up(end, kArrayAlignment);
  pool.expected_bytes = pool.bytes;
  if (!pool.sparse || pool.bytes == kSaturated) return;
  for (const PlanTensor& tensor : pool.tensors)
    pool.expected_bytes -= pool.rows * (tensor.row_stride - expected_row_bytes(tensor));
  pool.expected_bytes = std::min(round_up(pool.expected_bytes, kArrayAlignment), pool.bytes);
}

}  // namespace brigade
