#pragma once

// Writes 24-bit BMP files: a format that is neither JPEG nor PNG.

#include <string>

#include "tests/support/images/test_images.h"

namespace brigade::testing_support {

inline std::string write_bmp(const Picture& picture) {
  const auto number = [](std::int64_t value, int bytes) {
    std::string out;
    for (int i = 0; i < bytes; ++i) out += static_cast<char>(value >> 8 * i & 255);
    return out;
  };
  const std::int64_t stride = (picture.width * 3 + 3) / 4 * 4;
  const std::int64_t size = stride * picture.height;
  std::string out = "BM" + number(54 + size, 4) + number(0, 4) + number(54, 4);
  out += number(40, 4) + number(picture.width, 4) + number(picture.height, 4) + number(1, 2);
  out += number(24, 2) + number(0, 4) + number(size, 4) + std::string(16, '\0');
  for (std::int64_t y = picture.height - 1; y >= 0; --y) {  // from the bottom up, blue first
    for (std::int64_t x = 0; x < picture.width; ++x)
      for (std::int64_t c = 2; c >= 0; --c) out += static_cast<char>(picture.at(y, x, c));
    out.append(static_cast<std::size_t>(stride - picture.width * 3), '\0');
  }
  return out;
}

}  // namespace brigade::testing_support
