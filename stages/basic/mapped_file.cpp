#include "stages/basic/mapped_file.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <brigade/text.h>
#include "base/io.h"
#include "base/owned_fd.h"
#include "base/shared_path.h"

namespace brigade {

Result<MappedFile> MappedFile::open(const std::string& path) { return open(path, Whose::anybodys); }

Result<MappedFile> MappedFile::open_own(const std::string& path) { return open(path, Whose::ours); }

Result<MappedFile> MappedFile::open(const std::string& path, Whose whose) {
  // Not blocking: opening a pipe that nobody writes to would wait for ever.
  const OwnedFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (file.get() < 0) return error_of_errno(concat(path, ": cannot open"));
  struct stat status {};
  if (fstat(file.get(), &status) != 0)
    return error_of_errno(concat(path, ": cannot look at the file"));
  if (!S_ISREG(status.st_mode)) return Error{concat(path, ": expected a regular file")};
  const std::string problem = whose == Whose::ours ? foreign_owner(path, file.get()) : "";
  if (!problem.empty()) return Error{concat(path, ": ", problem)};
  MappedFile out;
  if (status.st_size == 0) return out;
  const FilePart whole{file.get(), 0, static_cast<std::uint64_t>(status.st_size)};
  auto mapping = Mapping::of({&whole, 1}, MapMode::read_only);
  if (!mapping) return mapping.error().within(path);
  out.mapping_ = std::move(*mapping);
  return out;
}

}  // namespace brigade
