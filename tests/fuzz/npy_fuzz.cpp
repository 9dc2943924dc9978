// Bytes as the beginning of a .npy file: a header that lies inside them, of samples that fit, or
// one line that begins with the path.

#include <brigade/check.h>
#include "stages/api/npy_header.h"
#include "tests/fuzz/entry.h"

namespace brigade {

void fuzz(std::string_view head) {
  const Result<NpyHeader> header = parse_npy_header("f", head);
  if (!header) {
    BRIGADE_CHECK(header.error().message.starts_with("f: "), header.error().message);
    return;
  }
  BRIGADE_CHECK(header->bytes <= head.size() && header->shape.rank() > 0);
  unsigned __int128 bytes = header->sample_bytes;
  BRIGADE_CHECK(bytes > 0);
  for (const std::int64_t dim : header->shape) BRIGADE_CHECK(dim > 0, dim);
  bytes *= static_cast<std::uint64_t>(header->shape[0]);
  BRIGADE_CHECK(bytes >> 64 == 0, "all samples together fit 64 bits");
}

}  // namespace brigade
