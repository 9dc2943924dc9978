#include "transports/memory_file.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <unistd.h>

#include <boost/interprocess/mapped_region.hpp>
#include <cerrno>
#include <cstring>
#include <utility>

#include "transports/limits.h"

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif
#ifndef MFD_NOEXEC_SEAL
#define MFD_NOEXEC_SEAL 0x0008U
#endif

namespace brigade {
namespace {

namespace ipc = boost::interprocess;

struct Descriptor {
  int fd;
  ipc::mapping_handle_t get_mapping_handle() const { return ipc::mapping_handle_t{fd, false}; }
};

Error system_error(const std::string& what) {
  const bool descriptors = errno == EMFILE || errno == ENFILE;
  return Error{what + ": " + std::strerror(errno) +
               (descriptors ? "; raise the limit with `ulimit -n`" : "")};
}

Error cannot_create(const std::string& name) {
  return system_error("cannot create shared memory \"" + name + "\"");
}

// Some systems refuse memory that may be executed; kernels before 6.3 do not know the flag.
int new_memory(const std::string& name) {
  const unsigned flags = MFD_CLOEXEC | MFD_ALLOW_SEALING;
  const int fd = memfd_create(name.c_str(), flags | MFD_NOEXEC_SEAL);
  if (fd >= 0 || errno != EINVAL) return fd;
  return memfd_create(name.c_str(), flags);
}

}  // namespace

struct MappedMemory::Region {
  explicit Region(ipc::mapped_region&& mapped) : region(std::move(mapped)) {}
  /// A forked child has none of it, and perhaps something else at its address.
  ~Region() {
    if (getpid() != owner) static_cast<void>(new ipc::mapped_region(std::move(region)));
  }

  ipc::mapped_region region;
  const pid_t owner = getpid();
};

MappedMemory::MappedMemory() = default;
MappedMemory::MappedMemory(MappedMemory&&) noexcept = default;
MappedMemory& MappedMemory::operator=(MappedMemory&&) noexcept = default;
MappedMemory::~MappedMemory() = default;

std::byte* MappedMemory::data() const {
  return region_ ? static_cast<std::byte*>(region_->region.get_address()) : nullptr;
}

std::uint64_t MappedMemory::bytes() const { return region_ ? region_->region.get_size() : 0; }

Result<MappedMemory> map_memory(int fd, std::uint64_t bytes, MapMode mode) {
  MappedMemory memory;
  try {
    const auto access = mode == MapMode::read_only ? ipc::read_only : ipc::read_write;
    memory.region_ = std::make_unique<MappedMemory::Region>(
        ipc::mapped_region(Descriptor{fd}, access, 0, bytes));
  } catch (const ipc::interprocess_exception& exception) {
    return Error{"cannot map " + std::to_string(bytes) + " bytes of shared memory (" +
                 exception.what() + "); is the address space limited (`ulimit -v`)?"};
  }
  madvise(memory.data(), bytes, MADV_DONTDUMP);  // best effort: core files stay small
  // A forked child would write rows that are no longer this process's.
  if (madvise(memory.data(), bytes, MADV_DONTFORK) != 0)
    return system_error("cannot keep shared memory from forked processes");
  return memory;
}

Result<std::uint64_t> memory_bytes(int fd) {
  struct stat status;
  if (fstat(fd, &status) != 0) return system_error("cannot look at inherited shared memory");
  return static_cast<std::uint64_t>(status.st_size);
}

Result<std::string> read_memory(int fd, std::uint64_t bytes_max) {
  BRIGADE_ASSIGN(const std::uint64_t bytes, memory_bytes(fd));
  if (bytes > bytes_max) {
    return Error{"expected at most " + std::to_string(bytes_max) + " bytes of memory, found " +
                 std::to_string(bytes)};
  }
  std::string contents(bytes, '\0');
  std::uint64_t done = 0;
  while (done < bytes) {
    const ssize_t count = pread(fd, contents.data() + done, bytes - done, static_cast<off_t>(done));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return system_error("cannot read shared memory");
    if (count == 0) return Error{"shared memory became shorter while it was read"};
    done += static_cast<std::uint64_t>(count);
  }
  return contents;
}

Result<OwnedFd> open_foreign_memory(const std::string& path, uid_t owner) {
  // First a handle that neither waits for a writer nor wakes a device.
  const OwnedFd handle(open(path.c_str(), O_PATH | O_CLOEXEC));
  struct stat status;
  struct statfs system;
  if (handle.get() < 0 || fstat(handle.get(), &status) != 0 || fstatfs(handle.get(), &system) != 0)
    return system_error("cannot open it");
  if (!S_ISREG(status.st_mode) || system.f_type != TMPFS_MAGIC)
    return Error{"expected memory, found a file that only has its name"};
  if (status.st_uid != owner) {
    return Error{"expected memory of the user " + std::to_string(owner) +
                 " who runs it, found that of " + std::to_string(status.st_uid)};
  }
  const std::string again = "/proc/self/fd/" + std::to_string(handle.get());
  OwnedFd fd(open(again.c_str(), O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
  if (fd.get() < 0) return system_error("cannot open it");
  const int seals = fcntl(fd.get(), F_GET_SEALS);
  if (seals < 0 || (seals & F_SEAL_SHRINK) == 0)
    return Error{"expected memory that cannot shrink, found some that is not sealed against it"};
  return fd;
}

Result<MemoryFile> MemoryFile::create(const std::string& name, std::uint64_t bytes) {
  rlimit limit;
  if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY &&
      limit.rlim_cur < bytes) {
    return Error{"shared memory \"" + name + "\" needs " + std::to_string(bytes) +
                 " bytes, but files are limited to " + std::to_string(limit.rlim_cur) +
                 "; raise the limit with `ulimit -f unlimited`"};
  }
  MemoryFile file;
  file.fd_ = new_memory(name);
  if (file.fd_ < 0) return cannot_create(name);
  file.bytes_ = bytes;
  if (ftruncate(file.fd_, static_cast<off_t>(bytes)) != 0) {
    return system_error("cannot give shared memory \"" + name + "\" " + std::to_string(bytes) +
                        " bytes");
  }
  if (fcntl(file.fd_, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0) {
    return system_error("cannot seal shared memory \"" + name + "\"");
  }
  return file;
}

Result<MemoryFile> MemoryFile::create_holding(const std::string& name, std::string_view contents) {
  MemoryFile file;
  file.fd_ = new_memory(name);
  if (file.fd_ < 0) return cannot_create(name);
  file.bytes_ = contents.size();
  while (!contents.empty()) {
    const ssize_t written = ::write(file.fd_, contents.data(), contents.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return system_error("cannot fill shared memory \"" + name + "\"");
    contents.remove_prefix(static_cast<std::size_t>(written));
  }
  constexpr int kEverything = F_SEAL_WRITE | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL;
  if (fcntl(file.fd_, F_ADD_SEALS, kEverything) != 0)
    return system_error("cannot seal shared memory \"" + name + "\"");
  return file;
}

MemoryFile::MemoryFile(MemoryFile&& other) noexcept
    : fd_(std::exchange(other.fd_, -1)),
      read_only_fd_(std::exchange(other.read_only_fd_, -1)),
      bytes_(std::exchange(other.bytes_, 0)) {}

MemoryFile& MemoryFile::operator=(MemoryFile&& other) noexcept {
  if (this == &other) return *this;
  close();
  fd_ = std::exchange(other.fd_, -1);
  read_only_fd_ = std::exchange(other.read_only_fd_, -1);
  bytes_ = std::exchange(other.bytes_, 0);
  return *this;
}

MemoryFile::~MemoryFile() { close(); }

void MemoryFile::close() {
  if (fd_ >= 0) ::close(fd_);
  if (read_only_fd_ >= 0) ::close(read_only_fd_);
  fd_ = read_only_fd_ = -1;
}

Result<void> MemoryFile::open_read_only() {
  if (read_only_fd_ >= 0) return {};
  const std::string path = "/proc/self/fd/" + std::to_string(fd_);
  read_only_fd_ = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (read_only_fd_ < 0) {
    return system_error("cannot open shared memory read-only through " + path);
  }
  return {};
}

Result<void> populate(std::byte* data, std::uint64_t bytes, int fd, std::uint64_t offset) {
  while (madvise(data, bytes, MADV_POPULATE_WRITE) != 0) {
    if (errno == EINTR || errno == EAGAIN) continue;
    if (errno == EINVAL) {  // a kernel before 5.14
      if (fallocate(fd, 0, static_cast<off_t>(offset), static_cast<off_t>(bytes)) == 0) return {};
    }
    return system_error("cannot get " + std::to_string(bytes) + " bytes of memory");
  }
  return {};
}

void release_pages(std::byte* data, std::uint64_t bytes) {
  const auto first = (reinterpret_cast<std::uintptr_t>(data) + kPageBytes - 1) / kPageBytes;
  const auto last = (reinterpret_cast<std::uintptr_t>(data) + bytes) / kPageBytes;
  if (first >= last) return;
  madvise(reinterpret_cast<void*>(first * kPageBytes), (last - first) * kPageBytes, MADV_REMOVE);
}

}  // namespace brigade
