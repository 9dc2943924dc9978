#pragma once

// A tensor as the C ABI shows it: brigade_tensor of c.h. Any thread.

#include <brigade/c.h>

#include <brigade/record.h>

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

}  // namespace brigade::c_api
