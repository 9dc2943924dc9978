#include "pipeline/process/kept_file.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/shared_path.h"
#include "base/text.h"
#include "base/units.h"

namespace brigade {
namespace {

/// Up to kCacheHeaderBytes bytes from the beginning of a regular file.
Result<std::string> read_start(int fd) {
  std::string start(kCacheHeaderBytes, '\0');
  std::size_t have = 0;
  while (have < start.size()) {
    const ssize_t count =
        pread(fd, start.data() + have, start.size() - have, static_cast<off_t>(have));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return Error{std::strerror(errno)};
    if (count == 0) break;
    have += static_cast<std::size_t>(count);
  }
  start.resize(have);
  return start;
}

KeptLook look_at(int fd) {
  using Kind = KeptLook::Kind;
  struct stat status;
  if (fstat(fd, &status) != 0) return {Kind::foreign, {}, std::strerror(errno)};
  if (!S_ISREG(status.st_mode)) return {Kind::foreign, {}, "is no file"};
  if (status.st_size == 0) return {};
  const auto start = read_start(fd);
  if (!start) return {Kind::foreign, {}, start.error().message};
  if (!start->starts_with(kCacheFileMagic)) return {Kind::foreign, {}, "is no cache of Brigade"};
  auto header = parse_cache_header(*start);
  if (!header) return {Kind::broken, {}, header.error().message};
  if (!header->complete) return {Kind::broken, {}, "is not complete"};
  if (auto whole = check_cache_size(*header, static_cast<std::uint64_t>(status.st_size)); !whole)
    return {Kind::broken, {}, whole.error().message};
  return {Kind::usable, std::move(*header), ""};
}

}  // namespace

KeptLook look_at_kept(const std::string& path) {
  const OwnedFd fd(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (fd.get() < 0 && errno == ENOENT) return {};
  if (fd.get() < 0)
    return {KeptLook::Kind::foreign, {}, concat("cannot be read: ", std::strerror(errno))};
  const std::string problem = foreign_owner(path, fd.get());
  if (!problem.empty()) return {KeptLook::Kind::foreign, {}, concat("is not used: ", problem)};
  return look_at(fd.get());
}

Result<std::unique_ptr<KeptFile>> KeptFile::create(const std::string& path,
                                                   const CacheFileHeader& header) {
  if (const KeptLook look = look_at_kept(path); look.kind == KeptLook::Kind::foreign)
    return Error{concat(path, " ", look.problem, "; it is not overwritten")};
  BRIGADE_ASSIGN(auto lock, PathLock::try_now(path));
  if (!lock)
    return Error{concat(path, " is being written by another run, or by another cache of this ",
                        "one; wait for it, or name another file")};
  BRIGADE_ASSIGN(NewFile nameless, NewFile::create(path));
  std::unique_ptr<KeptFile> file(new KeptFile(path, header, std::move(*lock), std::move(nameless)));
  BRIGADE_TRY(file->allocate());
  BRIGADE_TRY(file->write_header());
  return file;
}

Result<void> KeptFile::allocate() {
  const std::uint64_t bytes = kCacheHeaderBytes + header_.data_bytes;
  rlimit limit;  // exceeding it is a signal
  if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY &&
      limit.rlim_cur < bytes)
    return Error{concat(path_, " needs ", format_size(bytes), ", but files are limited to ",
                        format_size(limit.rlim_cur), "; raise the limit with `ulimit -f`")};
  int error = 0;
  do {
    error = posix_fallocate(fd(), 0, static_cast<off_t>(bytes));
  } while (error == EINTR);
  if (error == 0) return {};
  return Error{concat(path_, " needs ", format_size(bytes),
                      ", which the disk does not give: ", std::strerror(error))};
}

Result<void> KeptFile::write_header() {
  BRIGADE_ASSIGN(const std::string text, print_cache_header(header_));
  std::size_t done = 0;
  while (done < text.size()) {
    const ssize_t count =
        pwrite(fd(), text.data() + done, text.size() - done, static_cast<off_t>(done));
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return Error{concat("cannot write ", path_, ": ", std::strerror(errno))};
    done += static_cast<std::size_t>(count);
  }
  return {};
}

// The rows are on disk before a header says so, and that before the name does.
Result<void> KeptFile::publish(std::uint64_t samples) {
  BRIGADE_TRY(file_.sync());
  header_.complete = true;
  header_.samples = samples;
  BRIGADE_TRY(write_header());
  if (const KeptLook look = look_at_kept(path_); look.kind == KeptLook::Kind::foreign)
    return Error{concat(path_, " ", look.problem, "; it is not overwritten")};
  BRIGADE_TRY(file_.publish());
  lock_.reset();
  return {};
}

}  // namespace brigade
