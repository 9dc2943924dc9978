#include "pipeline/memory/shared_files.h"

#include <fcntl.h>

#include <atomic>
#include <cerrno>

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

}  // namespace

void begin_shared_head(const Mapping& memory) {
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
  const OwnedFd fd(open(file.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  if (fd.get() < 0) return error_of_errno(concat("cannot read ", file));
  std::string head(kMetadataBytesMax, '\0');
  const ssize_t have = read_all_at(fd.get(), head.data(), head.size(), 0);
  if (have < 0) return error_of_errno(concat("cannot read ", file));
  head.resize(static_cast<std::size_t>(have));
  BRIGADE_ASSIGN(const NpyHeader header, parse_npy_header(file, head));
  const Shape shape = shared.type.bounds();
  if (header.dtype != shared.type.dtype || header.shape != shape)
    return Error{concat("it is ", dtype_name(shared.type.dtype), shape_text(shape), ", and ", file,
                        " holds ", dtype_name(header.dtype), shape_text(header.shape),
                        "; name another file")};
  const std::uint64_t bytes = shared_layout(shared, guarded).part_bytes;
  for (std::uint64_t i = 0; i < shared.parts; ++i) {
    char* const part = reinterpret_cast<char*>(shared_part(shared, guarded, memory, i));
    const ssize_t got =
        read_all_at(fd.get(), part, bytes, static_cast<off_t>(header.bytes + i * bytes));
    if (got < 0) return error_of_errno(concat("cannot read ", file));
    if (static_cast<std::uint64_t>(got) < bytes)
      return Error{concat(file, " ends before its last number; save it once more")};
  }
  return {};
}

Result<void> save_shared(const PlanShared& shared, bool guarded, const Mapping& memory) {
  const auto header = print_npy_header(shared.type.dtype, shared.type.bounds());
  SharedHead& head = shared_head(memory);
  if (shared.save_file.empty() || !header) return {};
  if (std::atomic_ref(head.initialised).load(std::memory_order_acquire) == 0) return {};
  const SavingLock lock(head.saving);
  BRIGADE_ASSIGN(NewFile file, NewFile::create(shared.save_file));
  BRIGADE_TRY(file.write(*header));
  const std::uint64_t bytes = shared_layout(shared, guarded).part_bytes;
  for (std::uint64_t i = 0; i < shared.parts; ++i) {
    const std::byte* const part = shared_part(shared, guarded, memory, i);
    BRIGADE_TRY(file.write({reinterpret_cast<const char*>(part), bytes}));
  }
  return file.publish();
}

}  // namespace brigade
