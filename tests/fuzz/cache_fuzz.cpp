// Bytes as the beginning of a cache's file: an error in one line, or a header whose arrays lie
// inside the slots that it tells of, and that says the same when it is written and read again.

#include <string>

#include <brigade/check.h>
#include <brigade/tensor.h>
#include "stages/detail/cache_file.h"
#include "tests/fuzz/entry.h"

namespace brigade {

void fuzz(std::string_view input) {
  std::string beginning(input);
  beginning.resize(kCacheHeaderBytes);
  seal_cache_header(beginning);  // what lies behind the checksum is what is tried
  auto header = parse_cache_header(beginning);
  if (!header) {
    BRIGADE_CHECK(!header.error().message.empty());
    BRIGADE_CHECK(header.error().message.find('\n') == std::string::npos, header.error().message);
    return;
  }
  const unsigned __int128 slots = header->slots;
  BRIGADE_CHECK(slots > 0 && header->samples <= slots);
  BRIGADE_CHECK(slots * kCacheSlotWordBytes <= header->data_bytes);
  for (const CacheFileArray& array : header->arrays) {
    BRIGADE_CHECK(array.offset + slots * array.stride <= header->data_bytes, array.offset);
    BRIGADE_CHECK(array.type.bytes_max() <= array.stride, array.stride);
    unsigned __int128 bytes = dtype_bytes(array.type.dtype);
    for (const Dim& dim : array.type.shape) {
      BRIGADE_CHECK(dim.size >= 0, dim.size);
      bytes *= static_cast<std::uint64_t>(dim.size);
      BRIGADE_CHECK(bytes >> 64 == 0, "a slot's tensor fits 64 bits");
    }
    BRIGADE_CHECK(bytes <= array.stride);
  }
  BRIGADE_CHECK(!check_cache_size(*header, kCacheHeaderBytes + header->data_bytes - 1));
  BRIGADE_CHECK(!check_cache_size(*header, kCacheHeaderBytes + header->data_bytes + 1));
  BRIGADE_CHECK(check_cache_size(*header, kCacheHeaderBytes + header->data_bytes));
  const auto text = print_cache_header(*header);
  if (!text) return;
  auto again = parse_cache_header(*text);
  BRIGADE_CHECK(again.ok(), again.ok() ? "" : again.error().message);
  again->contents_hash = header->contents_hash;  // printed: of the contents that there was room for
  if (again->contents.size() < header->contents.size())
    header->contents.resize(again->contents.size());
  BRIGADE_CHECK(*again == *header);
}

}  // namespace brigade
