#pragma once

// Writes .npy files, sound or broken, for tests.

#include <cstring>
#include <string>
#include <string_view>
#include <vector>

namespace brigade::testing_support {

/// What numpy.save writes before the elements, in one of the format's versions.
inline std::string npy_head(std::string_view dictionary, int version = 1) {
  const std::size_t prefix = version == 1 ? 10 : 12;
  std::string header(dictionary);
  while ((prefix + header.size() + 1) % 64 != 0) header += ' ';
  header += '\n';
  std::string out = "\x93NUMPY";
  out += static_cast<char>(version);
  out += '\0';
  for (std::size_t i = 8; i < prefix; ++i)
    out += static_cast<char>(header.size() >> 8 * (i - 8) & 255);
  return out + header;
}

/// The header of an array in C order: npy_header("<f4", "(3, 2)").
inline std::string npy_header(std::string_view descr, std::string_view shape, int version = 1) {
  return npy_head("{'descr': '" + std::string(descr) +
                      "', 'fortran_order': False, 'shape': " + std::string(shape) + ", }",
                  version);
}

template <class T>
std::string raw_bytes(const std::vector<T>& values) {
  std::string out(values.size() * sizeof(T), '\0');
  std::memcpy(out.data(), values.data(), out.size());
  return out;
}

}  // namespace brigade::testing_support
