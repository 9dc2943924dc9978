#pragma once

// The field of a Frame for a tensor of this type, before its data is known: for a per-batch stage
// with the batch dimension of `rows` in front.

#include <cstdint>
#include <string>

#include "stages/api/record.h"
#include "stages/api/types.h"

namespace brigade {

inline Field make_field(const TensorType& type, std::string name, bool batched,
                        std::uint64_t rows) {
  Field field;
  field.name = std::move(name);
  field.dtype = type.dtype;
  field.ragged = type.ragged();
  field.row_bounds = type.bounds();
  field.row_shape = field.row_bounds;
  if (batched) field.shape.push_back(static_cast<std::int64_t>(rows));
  for (const std::int64_t size : field.row_bounds) field.shape.push_back(size);
  field.bounds = field.shape;
  return field;
}

}  // namespace brigade
