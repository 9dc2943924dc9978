#pragma once

// Converts a tensor to brigade_tensor of c.h, and gives it another shape. Any thread.

#include <brigade/c.h>

#include <brigade/record.h>
#include "pipeline/api/c/c_call.h"

namespace brigade::c_api {

/// `shape` is the field's, or of one sample of it, and `data` likewise.
inline brigade_tensor show_tensor(const Field& field, const void* data, const Shape& shape,
                                  std::uint32_t flags) {
  brigade_tensor shown{};
  shown.name = field.name.c_str();
  shown.data = const_cast<void*>(data);
  shown.dtype = static_cast<brigade_dtype>(field.dtype);
  shown.element_bytes = static_cast<std::uint32_t>(dtype_bytes(field.dtype));
  shown.bytes = static_cast<std::uint64_t>(shape.elements()) * shown.element_bytes;
  shown.flags = flags;
  shown.rank = shape.rank();
  std::int64_t stride = 1;
  for (int dimension = shown.rank - 1; dimension >= 0; --dimension) {
    shown.shape[dimension] = shape[dimension];
    shown.strides[dimension] = stride;
    stride *= shape[dimension];
  }
  return shown;
}

/// Of a batch: slots of a ragged tensor may have room between them.
inline brigade_tensor show_batch_tensor(const Field& field, std::uint32_t flags) {
  brigade_tensor shown = show_tensor(field, field.data, field.shape, flags);
  if (shown.rank > 0)
    shown.strides[0] = static_cast<std::int64_t>(field.sample_stride / shown.element_bytes);
  return shown;
}

/// Of a ragged one that the caller writes; `sizes` has `rank` numbers.
inline brigade_status resize_tensor(const TensorSlot& tensor, const std::int64_t* sizes,
                                    std::int32_t rank) {
  if (rank != 0) BRIGADE_C_NEEDS(sizes);
  if (rank < 0 || rank > kRankMax)
    return fail(BRIGADE_ERROR_ARGUMENT, concat("rank ", rank, " is not in 0 .. ", kRankMax));
  Shape shape;
  for (std::int32_t i = 0; i < rank; ++i) shape.push_back(sizes[i]);
  TensorSlot resized = tensor;
  const auto fits = resized.resize(shape);
  return fits ? BRIGADE_OK : fail(BRIGADE_ERROR_ARGUMENT, fits.error().message);
}

}  // namespace brigade::c_api
