#pragma once

// Whole numbers in the headers of image files.

#include <cstdint>
#include <string_view>

namespace brigade {

/// `size` (at most 4) bytes at `at`; 0 where the text ends before.
inline std::uint32_t number_at(std::string_view bytes, std::size_t at, std::size_t size,
                               bool big_endian) {
  if (at > bytes.size() || size > bytes.size() - at) return 0;
  std::uint32_t value = 0;
  for (std::size_t i = 0; i < size; ++i) {
    const std::size_t from = big_endian ? i : size - 1 - i;
    value = value << 8 | static_cast<std::uint8_t>(bytes[at + from]);
  }
  return value;
}

}  // namespace brigade
