#pragma once

// The field of a Frame for a tensor of this type, before its data is known: for a per-batch stage
// with the batch dimension of `slots` in front.

#include <cstdint>
#include <string>

#include <brigade/record.h>
#include <brigade/types.h>

namespace brigade {

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

}  // namespace brigade
