#include "base/path_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <brigade/text.h>
#include "base/io.h"
#include "base/shared_path.h"

namespace brigade {
namespace {

constexpr unsigned kMode = 0600;

/// Between open and lock its holder may have finished, and another one made it anew.
bool is_named(int fd, const std::string& path) {
  struct stat mine;
  struct stat named;
  return fstat(fd, &mine) == 0 && lstat(path.c_str(), &named) == 0 && mine.st_ino == named.st_ino &&
         mine.st_dev == named.st_dev;
}

bool lock(int fd, int how) {
  return retry([&] { return flock(fd, LOCK_EX | how); }) == 0;
}

/// No descriptor: somebody holds it.
Result<OwnedFd> take(const std::string& file, int how) {
  for (;;) {
    BRIGADE_ASSIGN(OwnedFd fd, open_shared_path(file, O_RDWR, kMode, Existing::file));
    if (!lock(fd.get(), how)) {
      if (errno == EWOULDBLOCK) return OwnedFd();
      return error_of_errno(concat("cannot lock ", file));
    }
    if (is_named(fd.get(), file)) return fd;
  }
}

}  // namespace

Result<PathLock> PathLock::wait(const std::string& path) {
  std::string file = path + ".lock";
  BRIGADE_ASSIGN(OwnedFd fd, take(file, 0));
  return PathLock(std::move(file), std::move(fd));
}

Result<std::optional<PathLock>> PathLock::try_now(const std::string& path) {
  std::string file = path + ".lock";
  BRIGADE_ASSIGN(OwnedFd fd, take(file, LOCK_NB));
  if (fd.get() < 0) return std::optional<PathLock>();
  return std::optional<PathLock>(PathLock(std::move(file), std::move(fd)));
}

PathLock::~PathLock() {
  if (fd_.get() >= 0) unlink(file_.c_str());
}

}  // namespace brigade
