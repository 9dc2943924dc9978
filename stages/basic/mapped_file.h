#pragma once

// A whole file as read-only memory: nothing is read before it is looked at, and the pages are the
// system's cache, shared by all processes that map the file.

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

#include "base/result.h"

namespace brigade {

class MappedFile {
 public:
  /// Maps a regular file. Errors begin with the path. An empty file has no bytes.
  static Result<MappedFile> open(const std::string& path);

  MappedFile() = default;
  MappedFile(MappedFile&& other) noexcept { swap(other); }
  MappedFile& operator=(MappedFile&& other) noexcept {
    swap(other);
    return *this;
  }
  ~MappedFile();

  std::string_view bytes() const { return {data_, size_}; }

 private:
  void swap(MappedFile& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
  }

  const char* data_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace brigade
