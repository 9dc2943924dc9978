#include "stages/image/file_bytes.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/text.h"
#include "base/units.h"

namespace brigade {
namespace {

Error system_error(std::string_view what) {
  if (errno == EMFILE || errno == ENFILE)
    return Error{"too many open files; raise the limit with `ulimit -n`"};
  return Error{concat("cannot ", what, ": ", std::strerror(errno))};
}

}  // namespace

FileBytes::~FileBytes() { close(); }

void FileBytes::close() {
  if (fd_ >= 0) ::close(fd_);
  fd_ = -1;
  open_path_.clear();
}

Result<void> FileBytes::open(const std::string& path) {
  close();
  // Not blocking: opening a pipe that nobody writes to would wait for ever.
  fd_ = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd_ < 0) return system_error("open");
  struct stat status {};
  if (fstat(fd_, &status) != 0) return system_error("look at the file");
  if (S_ISDIR(status.st_mode)) return Error{"it is a folder, not a file"};
  if (!S_ISREG(status.st_mode)) return Error{"it is a pipe or a device, not a file"};
  file_bytes_ = static_cast<std::uint64_t>(status.st_size);
  return {};
}

Result<std::string_view> FileBytes::read(const std::string& path) {
  BRIGADE_TRY(open(path));
  if (file_bytes_ == 0) {
    close();
    return Error{"the file is empty"};
  }
  auto bytes = fill(0, file_bytes_);
  close();
  return bytes;
}

Result<std::string_view> FileBytes::read(const std::string& path, std::int64_t offset,
                                         std::int64_t size) {
  if (path != open_path_ || fd_ < 0) {
    BRIGADE_TRY(open(path));
    open_path_ = path;
  }
  const auto begin = static_cast<std::uint64_t>(offset);
  if (offset < 0 || size <= 0 || begin > file_bytes_ ||
      static_cast<std::uint64_t>(size) > file_bytes_ - begin)
    return Error{concat("bytes ", offset, " to ", offset, " + ", size,
                        " are not in the file, which has ", format_count(file_bytes_))};
  return fill(begin, static_cast<std::uint64_t>(size));
}

Result<std::string_view> FileBytes::fill(std::uint64_t offset, std::uint64_t size) {
  if (size > kImageFileBytesMax)
    return Error{concat("it has ", format_size(size), ", at most ", format_size(kImageFileBytesMax),
                        " are expected of an image")};
  // Twice as much as before where that is kept: the next file may be a little larger.
  if (size > buffer_.capacity())
    buffer_.at_least(std::max<std::size_t>(size, std::min(2 * buffer_.capacity(), kKeptBytesMax)));
  std::uint8_t* const bytes = buffer_.at_least(size);
  std::uint64_t have = 0;
  while (have < size) {
    const ssize_t got = pread(fd_, bytes + have, size - have, static_cast<off_t>(offset + have));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return system_error("read");
    if (got == 0) return Error{"the file became shorter while it was read"};
    have += static_cast<std::uint64_t>(got);
  }
  return std::string_view(reinterpret_cast<const char*>(bytes), size);
}

}  // namespace brigade
