#include "base/io.h"

#include <unistd.h>

#include <cstring>

#include <brigade/text.h>

namespace brigade {

std::string errno_text(int error) { return std::strerror(error); }

Error error_of_errno(std::string_view what, int error) {
  const bool descriptors = error == EMFILE || error == ENFILE;
  return Error{concat(what, ": ", errno_text(error),
                      descriptors ? "; raise the limit with `ulimit -n`" : "")};
}

ssize_t read_all_at(int fd, void* data, std::size_t bytes, std::uint64_t offset) {
  std::size_t have = 0;
  while (have < bytes) {
    const ssize_t got = retry([&] {
      return pread(fd, static_cast<char*>(data) + have, bytes - have,
                   static_cast<off_t>(offset + have));
    });
    if (got < 0) return got;
    if (got == 0) break;
    have += static_cast<std::size_t>(got);
  }
  return static_cast<ssize_t>(have);
}

std::optional<std::string> read_start(int fd, std::size_t bytes_max) {
  std::string start(bytes_max, '\0');
  const ssize_t have = read_all_at(fd, start.data(), start.size(), 0);
  if (have < 0) return std::nullopt;
  start.resize(static_cast<std::size_t>(have));
  return start;
}

bool write_all(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = retry([&] { return write(fd, bytes.data(), bytes.size()); });
    if (written < 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  return true;
}

bool write_all_at(int fd, std::string_view bytes, std::uint64_t offset) {
  while (!bytes.empty()) {
    const ssize_t written =
        retry([&] { return pwrite(fd, bytes.data(), bytes.size(), static_cast<off_t>(offset)); });
    if (written < 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(written));
    offset += static_cast<std::uint64_t>(written);
  }
  return true;
}

}  // namespace brigade
