#pragma once

// A tensor that owns its bytes: what tests put into a stage and get out of it.

#include <cstddef>
#include <cstring>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <brigade/record.h>

namespace brigade::testing_support {

struct HostTensor {
  std::string name;
  DType dtype = DType::u8;
  Shape shape;
  std::vector<std::byte> bytes;

  /// The elements; T must match dtype.
  template <class T>
  std::vector<T> as() const {
    BRIGADE_CHECK(dtype_of<T>() == dtype, name, dtype_name(dtype));
    std::vector<T> out;
    for (std::size_t at = 0; at < bytes.size(); at += sizeof(T)) {
      T value;
      std::memcpy(&value, &bytes[at], sizeof(T));
      out.push_back(value);
    }
    return out;
  }
  friend bool operator==(const HostTensor& a, const HostTensor& b) {
    return a.name == b.name && a.dtype == b.dtype && a.shape == b.shape && a.bytes == b.bytes;
  }
};

template <class T>
HostTensor host_tensor(std::string name, const Shape& shape, const std::vector<T>& values) {
  BRIGADE_CHECK(static_cast<std::size_t>(shape.elements()) == values.size(), name, values.size());
  HostTensor out{std::move(name), dtype_of<T>(), shape, {}};
  out.bytes.resize(values.size() * sizeof(T));
  if (!values.empty()) std::memcpy(out.bytes.data(), values.data(), out.bytes.size());
  return out;
}

/// Without the batch dimension: what slot i of a batch is.
inline Shape sample_shape(const Shape& batch) {
  Shape out;
  for (int i = 1; i < batch.rank(); ++i) out.push_back(batch[i]);
  return out;
}

/// A frame over `tensors`: a batch (dimension 0 of each is the batch) or one sample. The frame
/// points into `tensors` and to `samples`.
inline Frame frame_of(std::vector<HostTensor>& tensors, std::span<const SampleInfo> samples,
                      bool batched) {
  Frame frame;
  frame.batched = batched;
  frame.samples = batched ? tensors.at(0).shape[0] : 1;
  frame.infos = samples;
  for (HostTensor& tensor : tensors) {
    const Shape slot = batched ? sample_shape(tensor.shape) : tensor.shape;
    const auto slot_bytes = static_cast<std::size_t>(slot.elements()) * dtype_bytes(tensor.dtype);
    frame.fields.push_back({tensor.name, tensor.dtype, false, tensor.shape, tensor.shape, slot,
                            slot, tensor.bytes.data(), slot_bytes});
  }
  return frame;
}

}  // namespace brigade::testing_support
