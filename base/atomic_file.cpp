#include "base/atomic_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>

#include "base/owned_fd.h"
#include "base/text.h"
#include "base/units.h"

namespace brigade {
namespace {

bool write_all(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = write(fd, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  return true;
}

/// After a failed call; nothing is left of the temporary file.
Error cannot_write(const std::string& path, std::size_t bytes) {
  const int cause = errno;
  unlink((path + ".tmp").c_str());
  return Error{concat("cannot write ", path,
                      bytes == 0 ? "" : concat(" (", format_size(bytes), ")"), ": ",
                      std::strerror(cause), "; what was there before is intact")};
}

std::string folder_of(const std::string& path) {
  const std::filesystem::path folder = std::filesystem::path(path).parent_path();
  return folder.empty() ? "." : folder.string();
}

}  // namespace

Result<void> write_temporary(const std::string& path, std::string_view bytes) {
  const std::string temporary = path + ".tmp";
  const OwnedFd file(open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666));
  if (file.get() >= 0 && write_all(file.get(), bytes) && fsync(file.get()) == 0) return {};
  return cannot_write(path, bytes.size());
}

Result<void> publish_temporary(const std::string& path) {
  if (std::rename((path + ".tmp").c_str(), path.c_str()) != 0) return cannot_write(path, 0);
  const OwnedFd folder(open(folder_of(path).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  // EINVAL: this file system syncs no folders.
  if (folder.get() < 0 || (fsync(folder.get()) != 0 && errno != EINVAL))
    return Error{concat("cannot sync the folder of ", path, ": ", std::strerror(errno))};
  return {};
}

Result<void> write_file_atomically(const std::string& path, std::string_view bytes) {
  BRIGADE_TRY(write_temporary(path, bytes));
  return publish_temporary(path);
}

Result<void> check_writable(const std::string& path) {
  const std::string folder = folder_of(path);
  if (access(folder.c_str(), W_OK | X_OK) == 0) return {};
  return Error{concat("cannot write ", path, ": folder ", folder, ": ", std::strerror(errno))};
}

}  // namespace brigade
