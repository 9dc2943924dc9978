// Bytes as an IDX file, plain or gzipped: data exactly as large as the header says, or one line
// that begins with the path. The header alone comes to the same.

#include <sys/mman.h>
#include <unistd.h>

#include <string>

#include <brigade/check.h>
#include "base/io.h"
#include "stages/image/sources/idx_file.h"
#include "tests/fuzz/entry.h"

namespace brigade {
namespace {

constexpr std::size_t kBytesMax = 1 << 16;  // a thousand times as much may be allocated

std::uint64_t sum_of(const IdxData& data) {
  std::uint64_t bytes = 1;
  for (const std::int64_t size : data.header.shape) bytes *= static_cast<std::uint64_t>(size);
  std::uint64_t sum = 0;
  for (std::uint64_t i = 0; i < bytes; ++i) sum += data.bytes[i];
  return sum;
}

void read(std::string_view bytes) {
  const Result<IdxHeader> header = parse_idx_header("f", bytes);
  BRIGADE_CHECK(!header || header->bytes <= bytes.size());
  BRIGADE_CHECK(header || header.error().message.starts_with("f: "));

  const int fd = memfd_create("idx", 0);
  BRIGADE_CHECK(fd >= 0 && write_all(fd, bytes), fd);
  const std::string path = "/proc/self/fd/" + std::to_string(fd);
  const Result<IdxData> data = read_idx_file(path);
  close(fd);
  if (!data) {
    const std::string& message = data.error().message;
    BRIGADE_CHECK(message.starts_with(path) && message.find('\n') == message.npos, message);
    return;
  }
  volatile std::uint64_t used = sum_of(*data);
  (void)used;
}

}  // namespace

void fuzz(std::string_view input) {
  if (input.size() <= kBytesMax) read(input);
}

}  // namespace brigade
