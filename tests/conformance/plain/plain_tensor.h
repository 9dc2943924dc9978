#pragma once

// A tensor as a value, and a sample as a line of text: what the plain loop and the recording
// consumer are compared by. Pure functions, any thread.

#include <cstring>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <brigade/record.h>
#include <brigade/text.h>

namespace brigade::conformance {

struct PlainTensor {
  DType dtype = DType::u8;
  Shape shape;
  std::string bytes;

  template <class T>
  static PlainTensor of(const Shape& shape, const std::vector<T>& elements) {
    PlainTensor tensor{dtype_of<T>(), shape, std::string(elements.size() * sizeof(T), '\0')};
    BRIGADE_CHECK(static_cast<std::size_t>(shape.elements()) == elements.size());
    if (!elements.empty()) std::memcpy(tensor.bytes.data(), elements.data(), tensor.bytes.size());
    return tensor;
  }
};

/// By name, in the order in which a reader sees them.
using PlainTensors = std::vector<std::pair<std::string, PlainTensor>>;

inline const PlainTensor* find(const PlainTensors& tensors, std::string_view name) {
  for (const auto& [other, tensor] : tensors)
    if (other == name) return &tensor;
  return nullptr;
}

/// FNV-1a, continued from `hash`.
inline std::uint64_t hash_bytes(std::string_view bytes, std::uint64_t hash = 0xcbf29ce484222325) {
  for (const char byte : bytes) {
    hash ^= static_cast<unsigned char>(byte);
    hash *= 0x100000001b3;
  }
  return hash;
}

/// "data u8[2, 3] 0001ff..." with the first bytes, and a hash of all where there are more.
inline std::string tensor_text(std::string_view name, const PlainTensor& tensor) {
  constexpr std::size_t kShown = 24;
  std::string text = concat(name, ' ', dtype_name(tensor.dtype), shape_text(tensor.shape), ' ');
  for (const char byte : tensor.bytes.substr(0, kShown)) {
    const auto value = static_cast<unsigned char>(byte);
    text += "0123456789abcdef"[value >> 4];
    text += "0123456789abcdef"[value & 15];
  }
  return tensor.bytes.size() <= kShown ? text : concat(text, "... ", hash_bytes(tensor.bytes));
}

/// One line.
inline std::string sample_text(const SampleInfo& info, const PlainTensors& tensors) {
  std::string text =
      concat("number ", info.number, " epoch ", info.epoch, " index ", info.index, " id ", info.id);
  for (const auto& [name, tensor] : tensors) text += " | " + tensor_text(name, tensor);
  return text;
}

}  // namespace brigade::conformance
