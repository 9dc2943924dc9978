#pragma once

// Memory that processes share without a name: a memfd, its size sealed before anybody else sees it,
// inherited by descriptor. When the last descriptor and mapping are gone the kernel frees it,
// however the processes ended. Not bounded by /dev/shm.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "base/result.h"

namespace brigade {

enum class MapMode : std::uint8_t { read_only, read_write };

/// A mapping of a whole file; unmapped on destruction. Movable.
class MappedMemory {
 public:
  MappedMemory();
  MappedMemory(MappedMemory&&) noexcept;
  MappedMemory& operator=(MappedMemory&&) noexcept;
  ~MappedMemory();

  std::byte* data() const;
  std::uint64_t bytes() const;

 private:
  friend Result<MappedMemory> map_memory(int fd, std::uint64_t bytes, MapMode mode);
  struct Region;
  std::unique_ptr<Region> region_;
};

/// Maps a descriptor of `bytes` bytes, shared; kept out of core dumps.
Result<MappedMemory> map_memory(int fd, std::uint64_t bytes, MapMode mode);

/// Bytes of the file behind a descriptor.
Result<std::uint64_t> memory_bytes(int fd);

/// Owns a memfd. Descriptors are close-on-exec.
class MemoryFile {
 public:
  /// A zeroed file of exactly `bytes` bytes, sealed against resizing. `name` is for /proc only.
  /// Errors: too few descriptors, RLIMIT_FSIZE below `bytes` (checked first: exceeding it is a
  /// signal).
  static Result<MemoryFile> create(const std::string& name, std::uint64_t bytes);

  MemoryFile() = default;
  MemoryFile(MemoryFile&& other) noexcept;
  MemoryFile& operator=(MemoryFile&& other) noexcept;
  ~MemoryFile();

  int fd() const { return fd_; }                      ///< read-write
  int read_only_fd() const { return read_only_fd_; }  ///< -1 until open_read_only()
  std::uint64_t bytes() const { return bytes_; }

  /// A second descriptor through which nobody can write; made once.
  Result<void> open_read_only();

 private:
  void close();

  int fd_ = -1;
  int read_only_fd_ = -1;
  std::uint64_t bytes_ = 0;
};

/// Gives the pages of [data, data + bytes) their memory now, without storing to them, so that
/// running out is an error here and not a SIGBUS later. `fd` is used where the kernel lacks
/// MADV_POPULATE_WRITE. Any thread, also while others already write there.
Result<void> populate(std::byte* data, std::uint64_t bytes, int fd, std::uint64_t offset);

/// Gives the whole pages inside [data, data + bytes) back; they read as zeros from now on. Any
/// thread that alone may write there. Best effort: where the kernel cannot, the pages stay.
void release_pages(std::byte* data, std::uint64_t bytes);

}  // namespace brigade
