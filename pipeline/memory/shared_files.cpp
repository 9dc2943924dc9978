#include "pipeline/memory/shared_files.h"

#include <fcntl.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <optional>
#include <utility>

#include <brigade/check.h>
#include <brigade/text.h>
#include "base/atomic_file.h"
#include "base/io.h"
#include "pipeline/plan/ring_layout.h"
#include "pipeline/plan/shared_tensors.h"
#include "stages/api/npy_header.h"

namespace brigade {
namespace {

static_assert(sizeof(SharedHead) <= kArrayAlignment);
constexpr std::uint64_t kPieceBytes = std::uint64_t{1} << 20;

class SavingLock {
 public:
  explicit SavingLock(pthread_mutex_t& mutex) : mutex_(mutex) {
    // Its owner has died: what it was writing is not the tensor's file yet.
    const int locked = pthread_mutex_lock(&mutex_);
    if (locked == EOWNERDEAD) pthread_mutex_consistent(&mutex_);
    BRIGADE_CHECK(locked == 0 || locked == EOWNERDEAD, "the mutex of a shared tensor");
  }
  ~SavingLock() { pthread_mutex_unlock(&mutex_); }
  SavingLock(const SavingLock&) = delete;
  SavingLock& operator=(const SavingLock&) = delete;

 private:
  pthread_mutex_t& mutex_;
};

/// Of the file behind the elements.
Result<std::optional<std::string>> identity_of(int fd, off_t end, const std::string& file,
                                               NpySum& sum) {
  std::string tail(kNpyTrailerBytes + 1, '\0');
  const ssize_t have = read_all_at(fd, tail.data(), tail.size(), end);
  if (have < 0) return error_of_errno(concat("cannot read ", file));
  tail.resize(static_cast<std::size_t>(have));
  if (tail.size() != kNpyTrailerBytes || !has_npy_trailer(tail))
    return std::optional<std::string>();
  auto identity = sum.identity(tail);
  if (!identity)
    return Error{
        concat(file, ": ", identity.error().message, "; restore a copy, or restart without it")};
  return std::optional(std::move(*identity));
}

/// The identity of the run that saved it; empty: another program has written it.
Result<std::optional<std::string>> load(const PlanShared& shared, bool guarded,
                                        const Mapping& memory, const std::string& file) {
  const OwnedFd fd(open(file.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  if (fd.get() < 0) return error_of_errno(concat("cannot read ", file));
  std::string head(kMetadataBytesMax, '\0');
  const ssize_t have = read_all_at(fd.get(), head.data(), head.size(), 0);
  if (have < 0) return error_of_errno(concat("cannot read ", file));
  head.resize(static_cast<std::size_t>(have));
  BRIGADE_ASSIGN(const NpyHeader header, parse_npy_header(file, head));
  const Shape shape = shared.type.bounds();
  if (header.dtype != shared.type.dtype || header.shape != shape)
    return Error{concat("expected ", dtype_name(shared.type.dtype), shape_text(shape), ", but ",
                        file, " holds ", dtype_name(header.dtype), shape_text(header.shape),
                        "; choose another file")};
  NpySum sum;
  sum.add(std::string_view(head).substr(0, header.bytes));
  const std::uint64_t bytes = shared_layout(shared, guarded).part_bytes;
  for (std::uint64_t i = 0; i < shared.parts; ++i) {
    char* const part = reinterpret_cast<char*>(shared_part(shared, guarded, memory, i));
    const ssize_t got =
        read_all_at(fd.get(), part, bytes, static_cast<off_t>(header.bytes + i * bytes));
    if (got < 0) return error_of_errno(concat("cannot read ", file));
    if (static_cast<std::uint64_t>(got) < bytes)
      return Error{concat(file, " is truncated; save it again")};
    sum.add({part, bytes});
  }
  return identity_of(fd.get(), static_cast<off_t>(header.bytes + shared.parts * bytes), file, sum);
}

}  // namespace

void begin_shared_head(const Mapping& memory, std::string_view identity) {
  char* const digits = shared_head(memory).identity;
  std::fill_n(digits, kIdentityDigits, '0');
  std::copy_n(identity.data(), std::min(identity.size(), kIdentityDigits), digits);
  pthread_mutexattr_t shared;
  pthread_mutexattr_init(&shared);
  pthread_mutexattr_setpshared(&shared, PTHREAD_PROCESS_SHARED);
  pthread_mutexattr_setrobust(&shared, PTHREAD_MUTEX_ROBUST);
  pthread_mutex_init(&shared_head(memory).saving, &shared);
  pthread_mutexattr_destroy(&shared);
}

std::byte* shared_part(const PlanShared& shared, bool guarded, const Mapping& memory,
                       std::uint64_t number) {
  const SharedLayout layout = shared_layout(shared, guarded);
  return memory.data() + 2 * kArrayAlignment + number * layout.stride + layout.lead;
}

Result<void> load_shared(const PlanShared& shared, bool guarded, const Mapping& memory,
                         const std::string& file) {
  auto loaded = load(shared, guarded, memory, file);
  return loaded ? Result<void>() : loaded.error();
}

Result<void> resume_shared(const PlanShared& shared, bool guarded, const Mapping& memory,
                           const std::string& identity, const std::string& checkpoint) {
  const std::string& file = shared.save_file;
  BRIGADE_ASSIGN(const std::optional<std::string> found, load(shared, guarded, memory, file));
  if (identity.empty() || found == identity) return {};
  const std::string of = checkpoint.empty() ? "given state" : concat("checkpoint ", checkpoint);
  if (found)
    return Error{concat(file, " belongs to a different run than the ", of,
                        "; restore the file of that run, or restart without --resume")};
  return Error{concat(file, " does not name the run of the ", of,
                      ": another program wrote it; restore the file of that run, or restart "
                      "without --resume and with `init: ",
                      file, "`")};
}

Result<void> save_shared(const PlanShared& shared, bool guarded, const Mapping& memory) {
  const auto header = print_npy_header(shared.type.dtype, shared.type.bounds());
  SharedHead& head = shared_head(memory);
  if (shared.save_file.empty() || !header) return {};
  if (std::atomic_ref(head.initialised).load(std::memory_order_acquire) == 0) return {};
  const SavingLock lock(head.saving);
  BRIGADE_ASSIGN(NewFile file, NewFile::create(shared.save_file));
  NpySum sum;
  sum.add(*header);
  BRIGADE_TRY(file.write(*header));
  const std::uint64_t bytes = shared_layout(shared, guarded).part_bytes;
  std::string piece;  // replicas store meanwhile: what is summed up is what is written
  for (std::uint64_t i = 0; i < shared.parts; ++i) {
    const char* const part = reinterpret_cast<const char*>(shared_part(shared, guarded, memory, i));
    for (std::uint64_t at = 0; at < bytes; at += piece.size()) {
      piece.assign(part + at, std::min(kPieceBytes, bytes - at));
      sum.add(piece);
      BRIGADE_TRY(file.write(piece));
    }
  }
  BRIGADE_TRY(file.write(sum.trailer({head.identity, kIdentityDigits})));
  return file.publish();
}

}  // namespace brigade
