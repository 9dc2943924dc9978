#include "stages/image/decode/file_bytes.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>

#include <brigade/text.h>
#include "base/io.h"
#include "base/units.h"

namespace brigade {

void FileBytes::close() {
  file_.reset();
  open_path_.clear();
}

Result<void> FileBytes::open(const std::string& path) {
  close();
  // Not blocking: opening a pipe that nobody writes to would wait for ever.
  file_.reset(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (file_.get() < 0) return error_of_errno("cannot open");
  struct stat status {};
  if (fstat(file_.get(), &status) != 0) return error_of_errno("cannot stat the file");
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
  if (path != open_path_ || file_.get() < 0) {
    BRIGADE_TRY(open(path));
    open_path_ = path;
  }
  const auto begin = static_cast<std::uint64_t>(offset);
  if (offset < 0 || size <= 0 || begin > file_bytes_ ||
      static_cast<std::uint64_t>(size) > file_bytes_ - begin)
    return Error{concat("bytes ", offset, " to ", offset, " + ", size,
                        " are outside the file, which has ", format_count(file_bytes_), " bytes")};
  return fill(begin, static_cast<std::uint64_t>(size));
}

Result<std::string_view> FileBytes::fill(std::uint64_t offset, std::uint64_t size) {
  if (size > kImageFileBytesMax)
    return Error{concat("it has ", format_size(size), ", at most ", format_size(kImageFileBytesMax),
                        " are allowed for an image file")};
  // Twice as much as before where that is kept: the next file may be a little larger.
  if (size > buffer_.capacity())
    buffer_.at_least(std::max<std::size_t>(size, std::min(2 * buffer_.capacity(), kKeptBytesMax)));
  std::uint8_t* const bytes = buffer_.at_least(size);
  const ssize_t have = read_all_at(file_.get(), bytes, size, offset);
  if (have < 0) return error_of_errno("cannot read");
  if (static_cast<std::uint64_t>(have) < size)
    return Error{"the file became shorter while it was read"};
  return std::string_view(reinterpret_cast<const char*>(bytes), size);
}

}  // namespace brigade
