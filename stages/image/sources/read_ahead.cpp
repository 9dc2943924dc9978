#include "stages/image/sources/read_ahead.h"

#include <fcntl.h>
#include <sys/uio.h>
#include <unistd.h>

namespace brigade {
namespace {

constexpr std::uint64_t kLookEvery = 8;
constexpr std::uint64_t kLookOn = 64;

/// Whether its beginning can be had without waiting for a disk.
bool is_cached(int fd) {
  char byte = 0;
  iovec piece{&byte, 1};
  return preadv2(fd, &piece, 1, 0, RWF_NOWAIT) >= 0;
}

}  // namespace

void ReadAhead::file(const std::string& path) {
  const std::uint64_t call = calls_++;
  if (!wanted_ || (call >= until_ && call % kLookEvery != 0)) return;
  // Not blocking: opening a pipe that nobody writes to would wait for ever.
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0) return;
  ++opened_;
  if (!is_cached(fd)) {
    read_ahead(fd, 0, 0);
    until_ = call + kLookOn;
  }
  close(fd);
}

void read_ahead(int fd, std::uint64_t offset, std::uint64_t size) {
  posix_fadvise(fd, static_cast<off_t>(offset), static_cast<off_t>(size), POSIX_FADV_WILLNEED);
}

}  // namespace brigade
