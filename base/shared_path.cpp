#include "base/shared_path.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

#include <brigade/text.h>
#include "base/io.h"

namespace brigade {
namespace {

Error cannot(const char* what, const std::string& path, std::string_view why) {
  return Error{concat("cannot ", what, " ", path, ": ", why)};
}

/// Where files of several users lie side by side: who owns the folder; -1: they do not.
std::int64_t owner_of_shared_folder(const std::string& path) {
  const std::filesystem::path folder = std::filesystem::path(path).parent_path();
  struct stat status;
  if (stat(folder.empty() ? "." : folder.c_str(), &status) != 0) return -1;
  const bool shared =
      (status.st_mode & S_ISVTX) != 0 && (status.st_mode & (S_IWGRP | S_IWOTH)) != 0;
  return shared ? static_cast<std::int64_t>(status.st_uid) : -1;
}

constexpr const char* kElsewhere =
    ", in a folder that all users may write; choose a file elsewhere";

/// Whose it is; read after cannot().
std::string owner_problem(const std::string& path, const struct stat& there) {
  const std::int64_t owner = owner_of_shared_folder(path);
  if (owner < 0 || there.st_uid == geteuid() || there.st_uid == static_cast<uid_t>(owner))
    return "";
  return concat("it belongs to another user (", there.st_uid, ")", kElsewhere);
}

Result<void> check_may_write(const std::string& path, const struct stat& there) {
  if (const std::string problem = owner_problem(path, there); !problem.empty())
    return cannot("write", path, problem);
  if (S_ISREG(there.st_mode) && there.st_nlink > 1 && owner_of_shared_folder(path) >= 0)
    return cannot("write", path, concat("it has several hard links", kElsewhere));
  return {};
}

}  // namespace

Result<OwnedFd> open_shared_path(const std::string& path, int flags, unsigned mode,
                                 Existing existing) {
  flags |= O_CREAT | O_CLOEXEC | O_NOCTTY | O_NONBLOCK;
  OwnedFd file(open(path.c_str(), flags | O_NOFOLLOW, mode));
  int cause = errno;
  struct stat there;
  // EACCES: the kernel's word for what another user has made.
  const bool seen =
      file.get() < 0 && (cause == ELOOP || cause == EACCES) && lstat(path.c_str(), &there) == 0;
  const bool link = seen && S_ISLNK(there.st_mode);
  if (link && existing == Existing::file)
    return cannot("write", path, "expected a regular file, found a symbolic link; remove it");
  if (seen) BRIGADE_TRY(check_may_write(path, there));
  if (link) {
    file.reset(open(path.c_str(), flags, mode));
    cause = errno;
  }
  if (file.get() < 0)
    return cannot("write", path, cause == ENXIO ? "no process reads it" : errno_text(cause));
  if (fstat(file.get(), &there) != 0) return cannot("write", path, errno_text());
  if (existing == Existing::file && !S_ISREG(there.st_mode))
    return cannot("write", path, "expected a regular file, found something else; remove it");
  if (!link) BRIGADE_TRY(check_may_write(path, there));
  if (fcntl(file.get(), F_SETFL, flags & O_APPEND) != 0) return cannot("write", path, errno_text());
  return file;
}

Result<OwnedFd> open_to_append(const std::string& path, Existing existing) {
  return open_shared_path(path, O_WRONLY | O_APPEND, 0644, existing);
}

std::string foreign_owner(const std::string& path, int fd) {
  struct stat there;
  return fstat(fd, &there) == 0 ? owner_problem(path, there) : errno_text();
}

Result<std::string> read_whole_file(const std::string& path) {
  const OwnedFd file(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  struct stat status;
  if (file.get() < 0 || fstat(file.get(), &status) != 0) return cannot("read", path, errno_text());
  if (!S_ISREG(status.st_mode)) return cannot("read", path, "expected a regular file");
  if (const std::string problem = owner_problem(path, status); !problem.empty())
    return cannot("read", path, problem);
  auto bytes = read_start(file.get(), static_cast<std::size_t>(status.st_size));
  if (!bytes) return cannot("read", path, errno_text());
  if (bytes->size() < static_cast<std::size_t>(status.st_size))
    return cannot("read", path, "it was truncated while it was read");
  return *std::move(bytes);
}

}  // namespace brigade
