#include "stages/image/saved_index.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <utility>

#include "base/atomic_file.h"
#include "base/clock.h"
#include "base/owned_fd.h"
#include "base/text.h"
#include "base/units.h"

namespace brigade {
namespace {

Error cannot_write(const std::string& file) {
  return Error{concat(file, ": cannot write the index: ", std::strerror(errno),
                      "; name another file, or leave `index:` away")};
}

bool is_named(int fd, const std::string& path) {
  struct stat mine {
  }, there{};
  return fstat(fd, &mine) == 0 && stat(path.c_str(), &there) == 0 && mine.st_ino == there.st_ino &&
         mine.st_dev == there.st_dev;
}

bool lock(int fd) {
  int done = 0;
  do done = flock(fd, LOCK_EX);
  while (done != 0 && errno == EINTR);
  return done == 0;
}

/// Under the lock on `file`.tmp.
Result<void> publish(const std::string& file, std::string_view bytes) {
  if (const auto written = write_file_atomically(file, bytes); !written)
    return Error{concat(written.error().message, "; name another file, or leave `index:` away")};
  return {};
}

/// An error where something lies there that is not this source's index.
Result<void> check_replaceable(const IndexSource& source) {
  std::error_code error;
  if (!std::filesystem::exists(source.file, error)) return {};
  BRIGADE_ASSIGN(const MappedFile there, MappedFile::open(source.file));
  if (there.bytes().empty()) return {};
  if (auto replaceable = may_replace_index(there.bytes(), source.kind); !replaceable)
    return Error{concat(source.file, ": ", replaceable.error().message,
                        ", and is not overwritten; name another file, or take it away")};
  return {};
}

}  // namespace

Result<SavedIndex> SavedIndex::in_memory(const IndexSource& source) {
  SavedIndex out;
  BRIGADE_ASSIGN(std::string bytes, source.make());
  out.memory_ = std::make_unique<const std::string>(std::move(bytes));
  BRIGADE_ASSIGN(out.index_, IndexFile::parse(*out.memory_, source.kind));
  return out;
}

Result<SavedIndex> SavedIndex::map(const IndexSource& source) {
  SavedIndex out;
  BRIGADE_ASSIGN(out.file_, MappedFile::open(source.file));
  const std::string_view bytes = out.file_.bytes();
  BRIGADE_ASSIGN(out.index_, IndexFile::parse(bytes, source.kind));
  // The checksum has looked at every page; those that are needed come back one by one.
  madvise(const_cast<char*>(bytes.data()), bytes.size(), MADV_DONTNEED);
  return out;
}

Result<SavedIndex> SavedIndex::open(const IndexSource& source) {
  if (source.file.empty()) return in_memory(source);
  const auto usable = [&](const Result<SavedIndex>& found) {
    return found && (source.again || source.is_current(found->get()));
  };
  if (auto found = map(source); usable(found)) return found;
  BRIGADE_TRY(check_replaceable(source));
  const std::string temporary = source.file + ".tmp";
  for (;;) {
    const OwnedFd fd(::open(temporary.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666));
    if (fd.get() < 0 || !lock(fd.get())) return cannot_write(source.file);
    // Whoever had the lock has made the index meanwhile, or died over it.
    if (auto found = map(source); usable(found)) {
      if (is_named(fd.get(), temporary)) unlink(temporary.c_str());
      return found;
    }
    if (!is_named(fd.get(), temporary)) continue;
    const std::int64_t start = monotonic_ns();
    auto made = source.make();
    if (!made) {
      unlink(temporary.c_str());
      return made.error();
    }
    BRIGADE_TRY(publish(source.file, *made));
    if (source.reporter != nullptr)
      source.reporter->say(
          concat("wrote the index ", source.file, " (", format_size(made->size()), ") in ",
                 format_duration(std::chrono::nanoseconds(monotonic_ns() - start))));
    return map(source);
  }
}

}  // namespace brigade
