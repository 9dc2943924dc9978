#include "base/atomic_file.h"

#include <fcntl.h>
#include <sys/random.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>

#include <brigade/text.h>
#include "base/io.h"
#include "base/units.h"

namespace brigade {
namespace {

constexpr mode_t kMode = 0644;
constexpr const char* kDescriptors = "/proc/self/fd/";  // by which a file without a name gets one
constexpr int kRandomNamesMax = 100;                    // a second one is hardly ever needed

std::string folder_of(const std::string& path) {
  const std::filesystem::path folder = std::filesystem::path(path).parent_path();
  return folder.empty() ? "." : folder.string();
}

std::string name_of(const std::string& path) {
  return std::filesystem::path(path).filename().string();
}

std::string random_name() {
  std::uint64_t number = 0;
  static_cast<void>(!getrandom(&number, sizeof number, 0));  // O_EXCL notices what is there
  return concat(".brigade-", number);
}

bool has_no_nameless_files(int error) {
  return error == EOPNOTSUPP || error == EISDIR || error == EINVAL || error == ENOENT;
}

}  // namespace

Error NewFile::failed() const {
  const int cause = errno;
  return Error{concat("cannot write ", path_,
                      bytes_ == 0 ? "" : concat(" (", format_size(bytes_), ")"), ": ",
                      errno_text(cause), "; the previous file is intact")};
}

Result<NewFile> NewFile::in_folder_of(const std::string& path) {
  NewFile made(path, OwnedFd(open(folder_of(path).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)));
  if (made.folder_.get() < 0) return made.failed();
  return made;
}

Result<NewFile> NewFile::create(const std::string& path) {
  BRIGADE_ASSIGN(NewFile made, in_folder_of(path));
  if (access(kDescriptors, X_OK) == 0) {
    made.file_.reset(openat(made.folder_.get(), ".", O_TMPFILE | O_RDWR | O_CLOEXEC, kMode));
    if (made.file_.get() >= 0) return made;
    if (!has_no_nameless_files(errno)) return made.failed();
  }
  BRIGADE_TRY(made.open_with_random_name());
  return made;
}

Result<NewFile> NewFile::create_with_random_name(const std::string& path) {
  BRIGADE_ASSIGN(NewFile made, in_folder_of(path));
  BRIGADE_TRY(made.open_with_random_name());
  return made;
}

Result<void> NewFile::open_with_random_name() {
  constexpr int kFlags = O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
  for (int i = 0; i < kRandomNamesMax; ++i) {
    const std::string name = random_name();
    file_.reset(openat(folder_.get(), name.c_str(), kFlags, kMode));
    if (file_.get() < 0 && errno == EEXIST) continue;
    if (file_.get() < 0) break;
    random_name_ = name;
    return {};
  }
  return failed();
}

NewFile::~NewFile() {
  if (folder_.get() >= 0 && !random_name_.empty()) unlinkat(folder_.get(), random_name_.c_str(), 0);
}

Result<void> NewFile::write(std::string_view bytes) {
  bytes_ += bytes.size();
  if (!write_all(file_.get(), bytes)) return failed();
  return {};
}

Result<void> NewFile::sync() {
  if (fsync(file_.get()) != 0) return failed();
  return {};
}

bool NewFile::link_as(const std::string& name) {
  return linkat(AT_FDCWD, concat(kDescriptors, file_.get()).c_str(), folder_.get(), name.c_str(),
                AT_SYMLINK_FOLLOW) == 0;
}

bool NewFile::rename_to(const std::string& name) {
  if (renameat(folder_.get(), random_name_.c_str(), folder_.get(), name.c_str()) != 0) return false;
  random_name_.clear();
  return true;
}

Result<void> NewFile::publish() {
  BRIGADE_TRY(sync());
  const std::string name = name_of(path_);
  if (random_name_.empty() && !link_as(name)) {
    // A link never replaces a file: it gets the name of one by a detour.
    for (int i = 0; i < kRandomNamesMax && errno == EEXIST && random_name_.empty(); ++i) {
      const std::string detour = random_name();
      if (link_as(detour)) random_name_ = detour;
    }
    if (random_name_.empty()) return failed();
  }
  if (!random_name_.empty() && !rename_to(name)) return failed();
  // EINVAL: this file system syncs no folders.
  if (fsync(folder_.get()) != 0 && errno != EINVAL)
    return error_of_errno(concat("cannot sync the folder of ", path_));
  return {};
}

Result<void> write_file_atomically(const std::string& path, std::string_view bytes) {
  BRIGADE_ASSIGN(NewFile file, NewFile::create(path));
  BRIGADE_TRY(file.write(bytes));
  return file.publish();
}

Result<void> check_writable(const std::string& path) {
  const std::string folder = folder_of(path);
  if (access(folder.c_str(), W_OK | X_OK) == 0) return {};
  return error_of_errno(concat("cannot write ", path, ": folder ", folder));
}

}  // namespace brigade
