#pragma once

// Keys of tar archives that are no samples, since the parameters ask for none of their members:
// counted, and told with what would read them. One thread.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "stages/image/index/tar_index.h"

namespace brigade {

struct UnreadKeys {
  std::uint64_t count = 0;
  std::vector<std::string> extensions;  ///< of their members, the first few
  std::vector<std::string> images;      ///< of the images that other keys have

  void add_key(const std::vector<std::string>& members);
  void add_image(std::string_view extension);
  void add(const UnreadKeys& other);

  /// Read after the count: "keys with neither image nor label; extensions seen: image.jpg,
  /// label.cls; `image: [image.jpg]`, `label: label.cls` reads them". Where that has more than
  /// `bytes_max` bytes, the extensions are told once.
  std::string text(const TarFields& fields, std::size_t bytes_max) const;
};

}  // namespace brigade
