#pragma once

// Two files side by side in memory, shared: the ring of a cache and, behind it, the file with what
// it keeps. Unmapped on destruction; movable.

#include <unistd.h>
#include <cstddef>

#include <cstdint>
#include <utility>

#include "base/result.h"

namespace brigade {

class JoinedMemory {
 public:
  struct Part {
    int fd = -1;
    std::uint64_t offset = 0;  ///< in the file; a multiple of a page, as is `bytes`
    std::uint64_t bytes = 0;
  };
  /// Read-write; kept out of core dumps and of forked children.
  static Result<JoinedMemory> map(const Part& first, const Part& second);

  JoinedMemory() = default;
  JoinedMemory(JoinedMemory&& other) noexcept { swap(other); }
  JoinedMemory& operator=(JoinedMemory&& other) noexcept {
    swap(other);
    return *this;
  }
  ~JoinedMemory();

  std::byte* data() const { return data_; }  ///< null: nothing is mapped

 private:
  void swap(JoinedMemory& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(bytes_, other.bytes_);
    std::swap(owner_, other.owner_);
  }

  std::byte* data_ = nullptr;
  std::uint64_t bytes_ = 0;
  pid_t owner_ = getpid();  // a forked child has none of it, and perhaps something else there
};

}  // namespace brigade
