#include "pipeline/process/joined_memory.h"

#include <sys/mman.h>

#include <cerrno>
#include <cstring>

#include "base/text.h"

namespace brigade {
namespace {

Error map_error(std::uint64_t bytes) {
  return Error{concat("cannot map ", bytes, " bytes (", std::strerror(errno),
                      "); is the address space limited (`ulimit -v`)?")};
}

bool map_at(std::byte* at, const JoinedMemory::Part& part) {
  return mmap(at, part.bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, part.fd,
              static_cast<off_t>(part.offset)) != MAP_FAILED;
}

}  // namespace

Result<JoinedMemory> JoinedMemory::map(const Part& first, const Part& second) {
  const std::uint64_t bytes = first.bytes + second.bytes;
  JoinedMemory memory;
  void* const place =
      mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (place == MAP_FAILED) return map_error(bytes);
  memory.data_ = static_cast<std::byte*>(place);
  memory.bytes_ = bytes;
  if (!map_at(memory.data_, first) || !map_at(memory.data_ + first.bytes, second))
    return map_error(bytes);
  madvise(place, bytes, MADV_DONTDUMP);  // best effort: core files stay small
  // A forked child would write rows that are no longer this process's.
  if (madvise(place, bytes, MADV_DONTFORK) != 0) return map_error(bytes);
  return memory;
}

JoinedMemory::~JoinedMemory() {
  if (data_ != nullptr && getpid() == owner_) munmap(data_, bytes_);
}

}  // namespace brigade
