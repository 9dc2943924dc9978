#include "stages/basic/mapped_file.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <boost/interprocess/mapped_region.hpp>
#include <cerrno>

#include <brigade/text.h>
#include "base/io.h"
#include "base/owned_fd.h"
#include "base/shared_path.h"

namespace brigade {
namespace {

namespace ipc = boost::interprocess;

/// The file that was looked at. Boost's file_mapping opens one by its name, without O_CLOEXEC, and
/// waits for the writer of a pipe.
struct OpenFile {
  int fd;
  ipc::mapping_handle_t get_mapping_handle() const { return {fd, false}; }
};

}  // namespace

void MappedFile::Unmap::operator()(ipc::mapped_region* region) const { delete region; }

std::string_view MappedFile::bytes() const {
  if (region_ == nullptr) return {};
  return {static_cast<const char*>(region_->get_address()), region_->get_size()};
}

Result<MappedFile> MappedFile::open(const std::string& path) { return open(path, Whose::anybodys); }

Result<MappedFile> MappedFile::open_own(const std::string& path) { return open(path, Whose::ours); }

Result<MappedFile> MappedFile::open(const std::string& path, Whose whose) {
  // Not blocking: opening a pipe that nobody writes to would wait for ever.
  const OwnedFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (file.get() < 0) return error_of_errno(concat(path, ": cannot open"));
  struct stat status {};
  if (fstat(file.get(), &status) != 0)
    return error_of_errno(concat(path, ": cannot stat the file"));
  if (!S_ISREG(status.st_mode)) return Error{concat(path, ": expected a regular file")};
  const std::string problem = whose == Whose::ours ? foreign_owner(path, file.get()) : "";
  if (!problem.empty()) return Error{concat(path, ": ", problem)};
  MappedFile out;
  if (status.st_size == 0) return out;
  const auto bytes = static_cast<std::size_t>(status.st_size);
  try {
    out.region_.reset(new ipc::mapped_region(OpenFile{file.get()}, ipc::read_only, 0, bytes));
  } catch (const ipc::interprocess_exception& failure) {
    const int why = failure.get_native_error();
    return Error{concat(path, ": cannot map ", bytes, " bytes (", errno_text(why), ")",
                        why == ENOMEM ? "; raise the limit on address space (`ulimit -v`)" : "")};
  }
  return out;
}

}  // namespace brigade
