#pragma once

// Memory that is mapped from files, shared with all processes that map the
// same bytes, and unmapped with its owner, only by the process that mapped it:
// a forked child may have other memory there. Movable; one thread at a time.

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

#include <brigade/export.h>
#include <brigade/result.h>

namespace brigade {

enum class MapMode : std::uint8_t { read_only, read_write };

/// In place of a descriptor: a place that nobody may touch.
inline constexpr int kNobodys = -2;

/// Bytes of a file, or of kNobodys. `offset`, and `bytes` unless nothing follows, are multiples of
/// a page.
struct FilePart {
  int fd = -1;
  std::uint64_t offset = 0;
  std::uint64_t bytes = 0;
};

inline constexpr std::uint64_t kUsualPageBytes = 4096;

class BRIGADE_API Mapping {
 public:
  /// The parts side by side, beginning on a page. Huge pages of a shared file are taken from those
  /// that are reserved when somebody maps it first: an error says that they are too few.
  static Result<Mapping> of(std::span<const FilePart> parts, MapMode mode,
                            std::uint64_t page_bytes = kUsualPageBytes);

  Mapping() = default;
  Mapping(Mapping&& other) noexcept { swap(other); }
  Mapping& operator=(Mapping&& other) noexcept {
    swap(other);
    return *this;
  }
  ~Mapping();

  std::byte* data() const { return data_; }  ///< null: nothing is mapped
  std::uint64_t bytes() const { return bytes_; }

  /// Out of core dumps, and not in the memory of children that this process forks from now on.
  Result<void> keep_to_this_process() const;
  /// Best effort: core files stay small.
  void keep_out_of_dumps() const;

 private:
  Mapping(std::byte* data, std::uint64_t bytes);
  void swap(Mapping& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(bytes_, other.bytes_);
    std::swap(process_, other.process_);
  }

  std::byte* data_ = nullptr;
  std::uint64_t bytes_ = 0;
  pid_t process_ = 0;  // that mapped it
};

/// Has the kernel give whole pages their memory now, as a store would. False: errno says why,
/// EINVAL in kernels before 5.14, also of no bytes.
BRIGADE_API bool populate_pages(void* data, std::uint64_t bytes);

}  // namespace brigade
