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

Error cannot_map(std::uint64_t bytes, std::uint64_t page_bytes) {
  std::string why;
  if (errno == ENOMEM)
    why = page_bytes == kUsualPageBytes
              ? "; raise the limit on address space (`ulimit -v`)"
              : "; reserve more huge pages (`grep Huge /proc/meminfo` shows the free ones)";
  return Error{concat("cannot map ", bytes, " bytes (", errno_text(), ")", why)};
}

/// Addresses that nobody else has, from a multiple of `page_bytes` on; null: errno says why.
std::byte* reserve(std::uint64_t bytes, std::uint64_t page_bytes) {
  const std::uint64_t more = page_bytes - kUsualPageBytes;
  void* const place =
      mmap(nullptr, bytes + more, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (place == MAP_FAILED) return nullptr;
  auto* const first = static_cast<std::byte*>(place);
  const std::uint64_t before = -reinterpret_cast<std::uintptr_t>(place) % page_bytes;
  if (before > 0) munmap(first, before);
  if (more > before) munmap(first + before + bytes, more - before);
  return first + before;
}

}  // namespace

Result<Mapping> Mapping::of(std::span<const FilePart> parts, MapMode mode,
                            std::uint64_t page_bytes) {
  std::uint64_t bytes = 0;
  for (const FilePart& part : parts) bytes += part.bytes;
  // A place for all of them, in which each takes its own.
  std::byte* const place = reserve(bytes, page_bytes);
  if (place == nullptr) return cannot_map(bytes, kUsualPageBytes);
  Mapping mapping(place, bytes);
  const int access = mode == MapMode::read_only ? PROT_READ : PROT_READ | PROT_WRITE;
  std::byte* at = mapping.data();
  for (const FilePart& part : parts) {
    if (part.fd != kNobodys && mmap(at, part.bytes, access, MAP_SHARED | MAP_FIXED, part.fd,
                                    static_cast<off_t>(part.offset)) == MAP_FAILED)
      return cannot_map(bytes, page_bytes);
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
  return error_of_errno("cannot hide shared memory from forked processes");
}

void Mapping::keep_out_of_dumps() const { madvise(data_, bytes_, MADV_DONTDUMP); }

bool populate_pages(void* data, std::uint64_t bytes) {
  for (;;) {
    if (madvise(data, bytes, MADV_POPULATE_WRITE) == 0) return true;
    if (errno != EINTR && errno != EAGAIN) return false;
  }
}

}  // namespace brigade
