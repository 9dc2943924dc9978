#include "pipeline/state/cache_file_writer.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <brigade/text.h>
#include "base/io.h"
#include "base/shared_path.h"
#include "base/units.h"

namespace brigade {
namespace {

CacheFileLook look_at(int fd) {
  using Kind = CacheFileLook::Kind;
  struct stat status;
  if (fstat(fd, &status) != 0) return {Kind::foreign, {}, errno_text()};
  if (!S_ISREG(status.st_mode)) return {Kind::foreign, {}, "is not a file"};
  if (status.st_size == 0) return {};
  const auto start = read_start(fd, kCacheHeaderBytes);
  if (!start) return {Kind::foreign, {}, errno_text()};
  if (!start->starts_with(kCacheFileName)) return {Kind::foreign, {}, "is not a Brigade cache"};
  auto header = parse_cache_header(*start);
  if (!header) return {Kind::broken, {}, header.error().message};
  if (!header->complete) return {Kind::broken, {}, "is not complete"};
  if (auto whole = check_cache_size(*header, static_cast<std::uint64_t>(status.st_size)); !whole)
    return {Kind::broken, {}, whole.error().message};
  return {Kind::usable, std::move(*header), ""};
}

}  // namespace

CacheFileLook look_at_cache_file(const std::string& path) {
  const OwnedFd fd(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (fd.get() < 0 && errno == ENOENT) return {};
  if (fd.get() < 0)
    return {CacheFileLook::Kind::foreign, {}, error_of_errno("cannot be read").message};
  const std::string problem = foreign_owner(path, fd.get());
  if (!problem.empty()) return {CacheFileLook::Kind::foreign, {}, concat("is not used: ", problem)};
  return look_at(fd.get());
}

Result<std::unique_ptr<CacheFileWriter>> CacheFileWriter::create(const std::string& path,
                                                                 const CacheFileHeader& header) {
  if (const CacheFileLook look = look_at_cache_file(path);
      look.kind == CacheFileLook::Kind::foreign)
    return Error{concat(path, " ", look.problem, "; it is not overwritten")};
  BRIGADE_ASSIGN(auto lock, PathLock::try_now(path));
  if (!lock)
    return Error{concat(path, " is being written by another run, or by another cache of this ",
                        "run; wait for it, or choose another file")};
  BRIGADE_ASSIGN(NewFile nameless, NewFile::create(path));
  std::unique_ptr<CacheFileWriter> file(
      new CacheFileWriter(path, header, std::move(*lock), std::move(nameless)));
  BRIGADE_TRY(file->allocate());
  BRIGADE_TRY(file->write_header());
  return file;
}

Result<void> CacheFileWriter::allocate() {
  const std::uint64_t bytes = kCacheHeaderBytes + header_.data_bytes;
  rlimit limit;  // exceeding it is a signal
  if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY &&
      limit.rlim_cur < bytes)
    return Error{concat(path_, " needs ", format_size(bytes), ", but files are limited to ",
                        format_size(limit.rlim_cur), "; raise the limit with `ulimit -f`")};
  const int given = retry([&] {
    errno = posix_fallocate(fd(), 0, static_cast<off_t>(bytes));
    return errno == 0 ? 0 : -1;
  });
  if (given == 0) return {};
  return error_of_errno(
      concat(path_, " needs ", format_size(bytes), ", which the disk cannot provide"));
}

Result<void> CacheFileWriter::write_header() {
  BRIGADE_ASSIGN(const std::string text, print_cache_header(header_));
  if (write_all_at(fd(), text, 0)) return {};
  return error_of_errno(concat("cannot write ", path_));
}

// The slots are on disk before a header says so, and that before the name does.
Result<void> CacheFileWriter::publish(std::uint64_t samples) {
  BRIGADE_TRY(file_.sync());
  header_.complete = true;
  header_.samples = samples;
  BRIGADE_TRY(write_header());
  if (const CacheFileLook look = look_at_cache_file(path_);
      look.kind == CacheFileLook::Kind::foreign)
    return Error{concat(path_, " ", look.problem, "; it is not overwritten")};
  BRIGADE_TRY(file_.publish());
  lock_.reset();
  return {};
}

}  // namespace brigade
