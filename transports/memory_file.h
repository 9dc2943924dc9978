#pragma once

// Memory that processes share without a name: a memfd, its size sealed before any other
// process sees it, never executable, inherited by descriptor. When the last descriptor and
// mapping are gone, the kernel frees it, however the processes ended. Not bounded by
// /dev/shm. It may use reserved huge pages (`sysctl vm.nr_hugepages`): the first mapping of
// such a file gets all of them or an error, and they are not returned while the file exists.

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include <brigade/result.h>
#include "base/mapping.h"
#include "base/owned_fd.h"
#include "transports/limits.h"

namespace brigade {

/// Maps files side by side; kept out of core dumps and of forked children.
Result<Mapping> map_memory(std::span<const FilePart> parts, MapMode mode,
                           std::uint64_t page_bytes = kPageBytes);
/// One of `bytes` bytes.
Result<Mapping> map_memory(int fd, std::uint64_t bytes, MapMode mode,
                           std::uint64_t page_bytes = kPageBytes);

/// Bytes of the file behind a descriptor.
Result<std::uint64_t> memory_bytes(int fd);

/// What is in a file of at most `bytes_max` bytes; reads, and maps nothing.
Result<std::string> read_memory(int fd, std::uint64_t bytes_max);

/// Opens the memory file behind /proc/PID/fd/N of a process that may be hostile, to be read:
/// refused unless it is memory without a name that can never shrink, so that to look at what is
/// mapped is no SIGBUS, and belongs to `owner`. Waits for nobody, whatever is there instead.
Result<OwnedFd> open_foreign_memory(const std::string& path, uid_t owner);

/// Owns a memfd. Descriptors are close-on-exec.
class MemoryFile {
 public:
  /// A zeroed file of exactly `bytes` bytes, sealed against resizing. `name` is for /proc only.
  /// Errors: too few descriptors, RLIMIT_FSIZE below `bytes` (checked first: exceeding it is a
  /// signal). `page_bytes`: kPageBytes, or kHugePageBytes, of which `bytes` is a multiple then.
  static Result<MemoryFile> create(const std::string& name, std::uint64_t bytes,
                                   std::uint64_t page_bytes = kPageBytes);
  /// A file with these contents, which nobody can change any more, this process neither.
  static Result<MemoryFile> create_holding(const std::string& name, std::string_view contents);

  int fd() const { return fd_.get(); }                      ///< read-write
  int read_only_fd() const { return read_only_fd_.get(); }  ///< -1 until open_read_only()
  std::uint64_t bytes() const { return bytes_; }

  /// A second descriptor through which nobody can write; made once.
  Result<void> open_read_only();

 private:
  OwnedFd fd_;
  OwnedFd read_only_fd_;
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
