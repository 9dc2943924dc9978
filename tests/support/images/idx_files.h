#pragma once

// Writes small IDX and .npy files, sound or broken, for tests.

#include <zlib.h>

#include <span>
#include <string>
#include <string_view>

#include <brigade/check.h>
#include <brigade/text.h>

namespace brigade::testing_support {

inline std::string idx_header(int code, std::span<const std::uint32_t> sizes) {
  std::string out{0, 0, static_cast<char>(code), static_cast<char>(sizes.size())};
  for (std::uint32_t size : sizes)
    for (int shift : {24, 16, 8, 0}) out += static_cast<char>(size >> shift & 255);
  return out;
}
inline std::string idx_header(int code, std::initializer_list<std::uint32_t> sizes) {
  return idx_header(code, std::span(sizes.begin(), sizes.size()));
}

/// What numpy.save writes before the elements, in one of the format's versions.
inline std::string npy_head(std::string_view dictionary, int version = 1) {
  const std::size_t prefix = version == 1 ? 10 : 12;
  std::string header(dictionary);
  while ((prefix + header.size() + 1) % 64 != 0) header += ' ';
  header += '\n';
  std::string out = concat("\x93NUMPY", static_cast<char>(version), '\0');
  for (std::size_t i = 8; i < prefix; ++i)
    out += static_cast<char>(header.size() >> 8 * (i - 8) & 255);
  return out + header;
}

/// The header of an array in C order: npy_header("<f4", "(3, 2)").
inline std::string npy_header(std::string_view descr, std::string_view shape, int version = 1) {
  return npy_head(
      concat("{'descr': '", descr, "', 'fortran_order': False, 'shape': ", shape, ", }"), version);
}

inline std::string write_gzip(const std::string& path, const std::string& bytes) {
  gzFile file = gzopen(path.c_str(), "wb");
  const int written = gzwrite(file, bytes.data(), static_cast<unsigned>(bytes.size()));
  BRIGADE_CHECK(written == static_cast<int>(bytes.size()) && gzclose(file) == Z_OK, path);
  return path;
}

/// `count` bytes: first, first + 1, ...
inline std::string counting_bytes(std::size_t count, int first = 0) {
  std::string out(count, '\0');
  for (std::size_t i = 0; i < count; ++i) out[i] = static_cast<char>(first + static_cast<int>(i));
  return out;
}

}  // namespace brigade::testing_support
