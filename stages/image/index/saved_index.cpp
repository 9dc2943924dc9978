#include "stages/image/index/saved_index.h"

#include <sys/mman.h>

#include <chrono>
#include <filesystem>
#include <utility>

#include <brigade/text.h>
#include "base/atomic_file.h"
#include "base/clock.h"
#include "base/path_lock.h"
#include "base/units.h"

namespace brigade {
namespace {

Error cannot_write(const Error& why) {
  return Error{concat(why.message, "; choose another file, or omit `index:`")};
}

/// An error where something lies there that is not this source's index.
Result<void> check_replaceable(const IndexSource& source) {
  std::error_code error;
  if (!std::filesystem::exists(source.file, error)) return {};
  BRIGADE_ASSIGN(const MappedFile there, MappedFile::open_own(source.file));
  if (there.bytes().empty()) return {};
  if (auto replaceable = may_replace_index(there.bytes(), source.kind); !replaceable)
    return Error{concat(source.file, ": ", replaceable.error().message,
                        ", so it is not overwritten; choose another file, or delete this one")};
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
  BRIGADE_ASSIGN(out.file_, MappedFile::open_own(source.file));
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
  const auto turn = PathLock::wait(source.file);
  if (!turn) return cannot_write(turn.error());
  // Whoever had the lock has made the index meanwhile, or died over it.
  if (auto found = map(source); usable(found)) return found;
  const std::int64_t start = monotonic_ns();
  BRIGADE_ASSIGN(const std::string made, source.make());
  if (const auto written = write_file_atomically(source.file, made); !written)
    return cannot_write(written.error());
  if (source.reporter != nullptr)
    source.reporter->log(concat("wrote the index ", source.file, " (", format_size(made.size()),
                                ") in ",
                                format_duration(std::chrono::nanoseconds(monotonic_ns() - start))));
  return map(source);
}

}  // namespace brigade
