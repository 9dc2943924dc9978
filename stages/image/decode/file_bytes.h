#pragma once

// Reads one file after another into memory that is kept. One thread. The bytes last until the next
// read().

#include <cstdint>
#include <string>
#include <string_view>

#include <brigade/result.h>
#include "base/owned_fd.h"
#include "stages/image/decode/picture_bytes.h"

namespace brigade {

/// Above this an image file is taken for a mistake.
inline constexpr std::uint64_t kImageFileBytesMax = std::uint64_t{1} << 30;

class FileBytes {
 public:
  /// A whole file. Errors do not name it: the caller knows it.
  Result<std::string_view> read(const std::string& path);
  /// `size` bytes of it from `offset` on. The file stays open until another one is read.
  Result<std::string_view> read(const std::string& path, std::int64_t offset, std::int64_t size);
  /// The bytes are not needed any more.
  void give_back() { buffer_.give_back(); }

 private:
  Result<void> open(const std::string& path);
  void close();
  Result<std::string_view> fill(std::uint64_t offset, std::uint64_t size);

  OwnedFd file_;
  std::string open_path_;
  std::uint64_t file_bytes_ = 0;
  PictureBytes buffer_;
};

}  // namespace brigade
