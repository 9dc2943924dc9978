#include "base/mapping.h"

#include <sys/mman.h>
#include <unistd.h>

#include <brigade/text.h>
#include "base/io.h"

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

namespace brigade {
namespace {

Error cannot_map(std::uint64_t bytes) {
  const bool no_room = errno == ENOMEM;
  return Error{concat("cannot map ", bytes, " bytes (", errno_text(), ")",
                      no_room ? "; is the address space limited (`ulimit -v`)?" : "")};
}

}  // namespace

Result<Mapping> Mapping::of(std::span<const FilePart> parts, MapMode mode) {
  std::uint64_t bytes = 0;
  for (const FilePart& part : parts) bytes += part.bytes;
  // A place for all of them, in which each takes its own.
  void* const place =
      mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (place == MAP_FAILED) return cannot_map(bytes);
  Mapping mapping(static_cast<std::byte*>(place), bytes);
  const int access = mode == MapMode::read_only ? PROT_READ : PROT_READ | PROT_WRITE;
  std::byte* at = mapping.data();
  for (const FilePart& part : parts) {
    if (part.fd != kNobodys && mmap(at, part.bytes, access, MAP_SHARED | MAP_FIXED, part.fd,
                                    static_cast<off_t>(part.offset)) == MAP_FAILED)
      return cannot_map(bytes);
    at += part.bytes;
  }
  return mapping;
}

Mapping::Mapping(std::byte* data, std::uint64_t bytes)
    : data_(data), bytes_(bytes), process_(getpid()) {}

Mapping::~Mapping() {
  if (data_ != nullptr && getpid() == process_) munmap(data_, bytes_);
}

Result<void> Mapping::keep_to_this_process() const {
  keep_out_of_dumps();
  if (madvise(data_, bytes_, MADV_DONTFORK) == 0) return {};
  return error_of_errno("cannot keep shared memory from forked processes");
}

void Mapping::keep_out_of_dumps() const { madvise(data_, bytes_, MADV_DONTDUMP); }

bool populate_pages(void* data, std::uint64_t bytes) {
  for (;;) {
    if (madvise(data, bytes, MADV_POPULATE_WRITE) == 0) return true;
    if (errno != EINTR && errno != EAGAIN) return false;
  }
}

}  // namespace brigade
