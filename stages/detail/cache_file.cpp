#include "stages/detail/cache_file.h"

#include <xxhash.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <limits>

#include <brigade/random.h>
#include <brigade/text.h>

namespace brigade {
namespace {

constexpr std::string_view kContents = "contents\n";
constexpr std::uint64_t kSummedBytes = kCacheHeaderBytes - sizeof(std::uint64_t);

std::uint64_t header_checksum(std::string_view text) {
  return XXH3_64bits(text.data(), kSummedBytes);
}

bool header_is_sound(std::string_view text) {
  if (text.size() != kCacheHeaderBytes) return false;
  std::uint64_t stored = 0;
  std::memcpy(&stored, text.data() + kSummedBytes, sizeof stored);
  return stored == header_checksum(text);
}

std::string dim_text(const Dim& dim) {
  if (dim.kind != Dim::Kind::up_to) return concat(dim.size);
  return concat("<=", dim.size, ":", dim.expected);
}

std::string array_line(const CacheFileArray& array) {
  std::string dims;
  for (const Dim& dim : array.type.shape) dims += concat(dims.empty() ? "" : ",", dim_text(dim));
  return concat("array ", array.type.name, " ", dtype_name(array.type.dtype), " [", dims, "] ",
                array.offset, " ", array.stride, "\n");
}

template <class Number>
bool parse_number(std::string_view text, Number& out) {
  const char* const last = text.data() + text.size();
  const auto [end, error] = std::from_chars(text.data(), last, out);
  return error == std::errc{} && end == last && out >= 0;
}

bool parse_dim(std::string_view text, Dim& dim) {
  const auto bound = strip_prefix(text, "<=");
  if (!bound) return parse_number(text, dim.size) && parse_number(text, dim.expected);
  const std::vector<std::string_view> parts = split(*bound, ':');
  dim.kind = Dim::Kind::up_to;
  return parts.size() == 2 && parse_number(parts[0], dim.size) &&
         parse_number(parts[1], dim.expected);
}

bool parse_array(std::string_view line, CacheFileArray& array) {
  const std::vector<std::string_view> words = split(line, ' ');
  if (words.size() != 5) return false;
  array.type.name = std::string(words[0]);
  const auto dtype = parse_dtype(words[1]);
  std::string_view dims = words[2];
  if (!dtype || !dims.starts_with('[') || !dims.ends_with(']')) return false;
  array.type.dtype = *dtype;
  dims = dims.substr(1, dims.size() - 2);
  for (const std::string_view text : split(dims, ',')) {
    if (dims.empty()) break;
    Dim dim(0);
    if (!parse_dim(text, dim) || array.type.shape.size() == kRankMax) return false;
    array.type.shape.push_back(dim);
  }
  return parse_number(words[3], array.offset) && parse_number(words[4], array.stride);
}

bool parse_line(std::string_view line, CacheFileHeader& header) {
  const std::size_t space = line.find(' ');
  if (space == std::string_view::npos) return false;
  const std::string_view key = line.substr(0, space);
  const std::string_view value = line.substr(space + 1);
  if (key == "array") return parse_array(value, header.arrays.emplace_back());
  if (key == "slots") return parse_number(value, header.slots);
  if (key == "samples") return parse_number(value, header.samples);
  if (key == "data_bytes") return parse_number(value, header.data_bytes);
  if (key == "contents_hash") return parse_number(value, header.contents_hash);
  header.complete = value == "yes";
  return key == "complete";
}

/// Every array inside the slots, so that whoever reads them needs to look no more.
bool fits(const CacheFileHeader& header) {
  const std::uint64_t bytes = header.data_bytes;
  if (bytes > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) return false;
  if (header.slots == 0 || header.samples > header.slots) return false;
  if (bytes / kCacheSlotWordBytes < header.slots) return false;
  for (const CacheFileArray& array : header.arrays) {
    if (array.offset > bytes || array.type.bytes_max() > array.stride) return false;
    if (array.stride != 0 && (bytes - array.offset) / array.stride < header.slots) return false;
  }
  for (std::size_t i = 0; i < header.arrays.size(); ++i) {
    if (!header.arrays[i].type.ragged()) continue;
    if (i + 1 == header.arrays.size()) return false;
    const TensorType& sizes = header.arrays[i + 1].type;
    if (sizes.dtype != DType::i64 || sizes.shape.size() != 1 ||
        sizes.shape[0].size != static_cast<std::int64_t>(header.arrays[i].type.shape.size()))
      return false;
  }
  return true;
}

/// Bytes of a ragged tensor that are in use; where `sizes` cannot be, its whole slot.
std::uint64_t used_bytes(const CacheFileArray& array, const std::byte* sizes) {
  std::uint64_t bytes = dtype_bytes(array.type.dtype);
  for (std::size_t d = 0; d < array.type.shape.size(); ++d) {
    std::int64_t size = 0;
    std::memcpy(&size, sizes + d * sizeof size, sizeof size);
    if (size < 0 || size > array.type.shape[d].size) return array.stride;
    bytes *= static_cast<std::uint64_t>(size);
  }
  return std::min(bytes, array.stride);
}

}  // namespace

std::uint64_t cache_slot_checksum(const std::vector<CacheFileArray>& arrays, const std::byte* slots,
                                  std::uint64_t slot, std::uint64_t state) {
  std::uint64_t words[kCacheSlotWordBytes / sizeof(std::uint64_t)];
  std::memcpy(words, slots + slot * kCacheSlotWordBytes, sizeof words);
  words[0] = state;
  words[kCacheChecksumAt / sizeof(std::uint64_t)] = slot;
  std::uint64_t hash = XXH3_64bits(words, sizeof words);
  if (state != kCacheSlotFull) return hash;
  for (std::size_t i = 0; i < arrays.size(); ++i) {
    const CacheFileArray& array = arrays[i];
    std::uint64_t bytes = array.stride;
    if (array.type.ragged() && i + 1 < arrays.size())
      bytes = used_bytes(array, slots + arrays[i + 1].offset + slot * arrays[i + 1].stride);
    hash = XXH3_64bits_withSeed(slots + array.offset + slot * array.stride, bytes, hash);
  }
  return hash;
}

std::uint64_t stored_cache_checksum(const std::byte* slots, std::uint64_t slot) {
  std::uint64_t checksum = 0;
  std::memcpy(&checksum, slots + slot * kCacheSlotWordBytes + kCacheChecksumAt, sizeof checksum);
  return checksum;
}

void store_cache_checksum(std::byte* slots, std::uint64_t slot, std::uint64_t checksum) {
  std::memcpy(slots + slot * kCacheSlotWordBytes + kCacheChecksumAt, &checksum, sizeof checksum);
}

bool cache_gaps_are_zero(const CacheFileHeader& header, std::string_view slots) {
  std::vector<std::pair<std::uint64_t, std::uint64_t>> parts = {
      {0, header.slots * kCacheSlotWordBytes}};
  for (const CacheFileArray& array : header.arrays)
    parts.emplace_back(array.offset, array.offset + header.slots * array.stride);
  std::sort(parts.begin(), parts.end());
  parts.emplace_back(slots.size(), slots.size());
  std::uint64_t end = 0;
  for (const auto& [first, last] : parts) {
    if (first > end && slots.substr(end, first - end).find_first_not_of('\0') != slots.npos)
      return false;
    end = std::max(end, last);
  }
  return true;
}

void seal_cache_header(std::string& text) {
  const std::uint64_t checksum = header_checksum(text);
  std::memcpy(text.data() + kSummedBytes, &checksum, sizeof checksum);
}

std::uint64_t cache_contents_hash(std::string_view contents) { return stream_id(contents); }

Result<std::string> print_cache_header(const CacheFileHeader& header) {
  std::string text(kCacheFileMagic);
  text += concat("complete ", header.complete ? "yes" : "no", "\nslots ", header.slots,
                 "\nsamples ", header.samples, "\ndata_bytes ", header.data_bytes,
                 "\ncontents_hash ", cache_contents_hash(header.contents), "\n");
  for (const CacheFileArray& array : header.arrays) text += array_line(array);
  text += kContents;
  if (text.size() >= kSummedBytes) return Error{"a cache in a file has too many tensors"};
  text += header.contents.substr(0, kSummedBytes - text.size());
  text.resize(kCacheHeaderBytes);
  seal_cache_header(text);
  return text;
}

Result<CacheFileHeader> parse_cache_header(std::string_view file_start) {
  if (!file_start.starts_with(kCacheFileName)) return Error{"is not a Brigade cache"};
  if (!file_start.starts_with(kCacheFileMagic))
    return Error{concat("is a cache of another version of Brigade", kCacheCure)};
  if (!header_is_sound(file_start))
    return Error{concat("has a damaged header: its checksum is wrong", kCacheCure)};
  std::string_view rest =
      file_start.substr(kCacheFileMagic.size(), kSummedBytes - kCacheFileMagic.size());
  CacheFileHeader header;
  for (;;) {
    const std::size_t end = rest.find('\n');
    if (end == std::string_view::npos) return Error{"has a damaged header: it ends too early"};
    const std::string_view line = rest.substr(0, end);
    rest.remove_prefix(end + 1);
    if (line == kContents.substr(0, kContents.size() - 1)) break;
    if (!parse_line(line, header))
      return Error{concat("has a damaged header: ", quote(line.substr(0, 80)))};
  }
  header.contents = std::string(rest.substr(0, rest.find('\0')));
  if (!fits(header)) return Error{"has a damaged header: its arrays do not match its size"};
  return header;
}

Result<void> check_cache_size(const CacheFileHeader& header, std::uint64_t file_bytes) {
  const std::uint64_t expected = kCacheHeaderBytes + header.data_bytes;
  if (file_bytes == expected) return {};
  if (file_bytes > expected)
    return Error{
        concat("is damaged: it has ", file_bytes, " bytes, expected ", expected, kCacheCure)};
  return Error{concat("is truncated: it has ", file_bytes, " bytes of ", expected)};
}

}  // namespace brigade
