#include "stages/basic/mapped_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/owned_fd.h"
#include "base/text.h"

namespace brigade {
namespace {

Error system_error(const std::string& path, std::string_view what) {
  return Error{concat(path, ": cannot ", what, ": ", std::strerror(errno))};
}

}  // namespace

Result<MappedFile> MappedFile::open(const std::string& path) {
  // Not blocking: opening a pipe that nobody writes to would wait for ever.
  const OwnedFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (file.get() < 0) return system_error(path, "open");
  struct stat status {};
  if (fstat(file.get(), &status) != 0) return system_error(path, "look at the file");
  if (!S_ISREG(status.st_mode)) return Error{concat(path, ": expected a regular file")};
  MappedFile out;
  if (status.st_size == 0) return out;
  const auto size = static_cast<std::size_t>(status.st_size);
  void* const data = mmap(nullptr, size, PROT_READ, MAP_SHARED, file.get(), 0);
  if (data == MAP_FAILED) return system_error(path, "map");
  out.data_ = static_cast<const char*>(data);
  out.size_ = size;
  return out;
}

MappedFile::~MappedFile() {
  if (data_ != nullptr) munmap(const_cast<char*>(data_), size_);
}

}  // namespace brigade
