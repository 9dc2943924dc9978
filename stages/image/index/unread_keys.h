#pragma once

// Contents of tar archives that no parameter requests: keys that are not samples, counted with
// the parameters that would read them, and extensions of unread members of samples. One thread.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "stages/image/index/tar_index.h"

namespace brigade {

struct UnreadKeys {
  /// Keys whose members have the same extensions.
  struct Kind {
    std::vector<std::string> extensions;
    std::uint64_t count = 0;
  };

  std::uint64_t count = 0;
  std::vector<Kind> kinds;              ///< the first few
  std::vector<std::string> extensions;  ///< of their members, the first few
  std::vector<std::string> images;      ///< of the images that other keys have
  std::vector<std::string> members;     ///< of what nobody reads of other keys, the first few

  void add_key(const std::vector<std::string>& extensions_of_key);
  void add_image(std::string_view extension);
  void add_members(const std::vector<std::string>& unread);
  void add(const UnreadKeys& other);

  /// Read after the count: "keys with neither image nor label; extensions found: image.jpg,
  /// label.cls; `image: [image.jpg]`, `label: label.cls` reads them". Where that has more than
  /// `bytes_max` bytes, an extension is told once, and if need be without what reads it.
  std::string text(const TarFields& fields, std::size_t bytes_max) const;
  /// "ignores the members .json, .txt of its keys; `extra: ...` outputs them"; empty if all members
  /// of samples are read.
  std::string members_text() const;
};

}  // namespace brigade
