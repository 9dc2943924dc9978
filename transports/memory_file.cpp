#include "transports/memory_file.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <unistd.h>

#include "base/io.h"
#include "transports/limits.h"

#ifndef MFD_NOEXEC_SEAL
#define MFD_NOEXEC_SEAL 0x0008U
#endif

namespace brigade {
namespace {

// MFD_HUGE_2MB: the exponent of their size.
constexpr unsigned kHugePagesOf2MiB = 21U << 26;
static_assert(kHugePageBytes == 1U << 21);

Error cannot_create(const std::string& name) {
  return error_of_errno("cannot create shared memory \"" + name + "\"");
}

// Some systems refuse memory that may be executed; kernels before 6.3 do not know the flag.
int new_memory(const std::string& name, std::uint64_t page_bytes = kPageBytes) {
  const unsigned huge = page_bytes == kPageBytes ? 0 : MFD_HUGETLB | kHugePagesOf2MiB;
  const unsigned flags = MFD_CLOEXEC | MFD_ALLOW_SEALING | huge;
  const int fd = memfd_create(name.c_str(), flags | MFD_NOEXEC_SEAL);
  if (fd >= 0 || errno != EINVAL) return fd;
  return memfd_create(name.c_str(), flags);
}

}  // namespace

Result<Mapping> map_memory(std::span<const FilePart> parts, MapMode mode,
                           std::uint64_t page_bytes) {
  BRIGADE_ASSIGN(Mapping mapping, Mapping::of(parts, mode, page_bytes));
  // A forked child would write slots that are no longer this process's.
  BRIGADE_TRY(mapping.keep_to_this_process());
  return mapping;
}

Result<Mapping> map_memory(int fd, std::uint64_t bytes, MapMode mode, std::uint64_t page_bytes) {
  const FilePart whole{fd, 0, bytes};
  return map_memory({&whole, 1}, mode, page_bytes);
}

Result<std::uint64_t> memory_bytes(int fd) {
  struct stat status;
  if (fstat(fd, &status) != 0) return error_of_errno("cannot stat inherited shared memory");
  return static_cast<std::uint64_t>(status.st_size);
}

Result<std::string> read_memory(int fd, std::uint64_t bytes_max) {
  BRIGADE_ASSIGN(const std::uint64_t bytes, memory_bytes(fd));
  if (bytes > bytes_max) {
    return Error{"expected at most " + std::to_string(bytes_max) + " bytes of memory, found " +
                 std::to_string(bytes)};
  }
  std::string contents(bytes, '\0');
  const ssize_t have = read_all_at(fd, contents.data(), contents.size(), 0);
  if (have < 0) return error_of_errno("cannot read shared memory");
  if (static_cast<std::uint64_t>(have) < bytes)
    return Error{"shared memory was truncated while it was read"};
  return contents;
}

Result<OwnedFd> open_foreign_memory(const std::string& path, uid_t owner) {
  // First a handle that neither waits for a writer nor wakes a device.
  const OwnedFd handle(open(path.c_str(), O_PATH | O_CLOEXEC));
  struct stat status;
  struct statfs system;
  if (handle.get() < 0 || fstat(handle.get(), &status) != 0 || fstatfs(handle.get(), &system) != 0)
    return error_of_errno("cannot open it");
  if (!S_ISREG(status.st_mode) || system.f_type != TMPFS_MAGIC)
    return Error{"expected shared memory, found a file with the same name"};
  if (status.st_uid != owner) {
    return Error{"expected memory of user " + std::to_string(owner) + ", found memory of user " +
                 std::to_string(status.st_uid)};
  }
  if (status.st_size == 0) return Error{"expected memory with contents, found none"};
  const std::string again = "/proc/self/fd/" + std::to_string(handle.get());
  OwnedFd fd(open(again.c_str(), O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
  if (fd.get() < 0) return error_of_errno("cannot open it");
  const int seals = fcntl(fd.get(), F_GET_SEALS);
  if (seals < 0 || (seals & F_SEAL_SHRINK) == 0)
    return Error{"expected memory sealed against shrinking, found unsealed memory"};
  return fd;
}

Result<MemoryFile> MemoryFile::create(const std::string& name, std::uint64_t bytes,
                                      std::uint64_t page_bytes) {
  rlimit limit;
  if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY &&
      limit.rlim_cur < bytes) {
    return Error{"shared memory \"" + name + "\" needs " + std::to_string(bytes) +
                 " bytes, but files are limited to " + std::to_string(limit.rlim_cur) +
                 "; raise the limit with `ulimit -f unlimited`"};
  }
  MemoryFile file;
  file.fd_.reset(new_memory(name, page_bytes));
  if (file.fd() < 0) return cannot_create(name);
  file.bytes_ = bytes;
  if (ftruncate(file.fd(), static_cast<off_t>(bytes)) != 0) {
    return error_of_errno("cannot resize shared memory \"" + name + "\" to " +
                          std::to_string(bytes) + " bytes");
  }
  if (fcntl(file.fd(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0) {
    return error_of_errno("cannot seal shared memory \"" + name + "\"");
  }
  return file;
}

Result<MemoryFile> MemoryFile::create_holding(const std::string& name, std::string_view contents) {
  MemoryFile file;
  file.fd_.reset(new_memory(name));
  if (file.fd() < 0) return cannot_create(name);
  file.bytes_ = contents.size();
  if (!write_all(file.fd(), contents))
    return error_of_errno("cannot fill shared memory \"" + name + "\"");
  constexpr int kEverything = F_SEAL_WRITE | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL;
  if (fcntl(file.fd(), F_ADD_SEALS, kEverything) != 0)
    return error_of_errno("cannot seal shared memory \"" + name + "\"");
  return file;
}

Result<void> MemoryFile::open_read_only() {
  if (read_only_fd() >= 0) return {};
  const std::string path = "/proc/self/fd/" + std::to_string(fd());
  read_only_fd_.reset(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (read_only_fd() < 0)
    return error_of_errno("cannot open shared memory read-only through " + path);
  return {};
}

Result<void> populate(std::byte* data, std::uint64_t bytes, int fd, std::uint64_t offset) {
  if (populate_pages(data, bytes)) return {};
  if (errno == EINVAL &&
      fallocate(fd, 0, static_cast<off_t>(offset), static_cast<off_t>(bytes)) == 0)
    return {};
  return error_of_errno("cannot allocate " + std::to_string(bytes) + " bytes of memory");
}

void release_pages(std::byte* data, std::uint64_t bytes) {
  const auto first = (reinterpret_cast<std::uintptr_t>(data) + kPageBytes - 1) / kPageBytes;
  const auto last = (reinterpret_cast<std::uintptr_t>(data) + bytes) / kPageBytes;
  if (first >= last) return;
  madvise(reinterpret_cast<void*>(first * kPageBytes), (last - first) * kPageBytes, MADV_REMOVE);
}

}  // namespace brigade
