#pragma once

// The file of a `cache` with `file:`, which the producer `cached` reads again. It begins with a
// header of text, padded with zeros to whole pages; then come the slots, with the layout of a
// ring (docs/MEMORY_LAYOUT.md): 32 bytes per slot, where the first word marks it as cached and
// the second is the slot's checksum, then one array per tensor. Plain data, pure functions.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <brigade/result.h>
#include <brigade/types.h>

namespace brigade {

inline constexpr std::string_view kCacheFileName = "Brigade cache ";  ///< of any version
inline constexpr std::string_view kCacheFileMagic = "Brigade cache 2\n";
/// What an error of a damaged file ends with.
inline constexpr std::string_view kCacheCure = "; delete it and run again";
inline constexpr std::uint64_t kCacheSlotWordBytes = 32;  ///< from one slot's word to the next
/// What the word of a slot says, little endian; anything else: nothing has been kept there.
inline constexpr std::uint64_t kCacheSlotFull = 1;
inline constexpr std::uint64_t kCacheSlotEmpty = 2;   ///< a sample that was dropped
inline constexpr std::uint64_t kCacheChecksumAt = 8;  ///< in the 32 bytes of a slot

/// One array. A ragged tensor is followed by NAME.shape, i64 [rank]: the sizes of each slot.
struct CacheFileArray {
  TensorType type;
  std::uint64_t offset = 0;  ///< bytes from the beginning of the slots
  std::uint64_t stride = 0;  ///< bytes from one slot to the next
  friend bool operator==(const CacheFileArray&, const CacheFileArray&) = default;
};

struct CacheFileHeader {
  bool complete = false;  ///< false: the run that writes it has not kept all its samples
  std::uint64_t slots = 0;
  std::uint64_t samples = 0;     ///< <= slots, known once complete
  std::uint64_t data_bytes = 0;  ///< of the slots
  std::vector<CacheFileArray> arrays;
  std::uint64_t contents_hash = 0;  ///< of the whole of `contents`
  /// What its samples were made by, a line per fact. As read: as much as there was room for.
  std::string contents;
  friend bool operator==(const CacheFileHeader&, const CacheFileHeader&) = default;
};

/// Bytes before the slots, in every such file.
inline constexpr std::uint64_t kCacheHeaderBytes = kMetadataBytesMax;

/// kCacheHeaderBytes bytes, the last 8 a checksum of the others; sets contents_hash from
/// `contents`. Error: it has too many tensors.
BRIGADE_API Result<std::string> print_cache_header(const CacheFileHeader& header);

/// `file_start`: kCacheHeaderBytes bytes. Errors are to be read after the file's name: "is no cache
/// of Brigade", "has a broken header: ...", another version, a wrong checksum.
BRIGADE_API Result<CacheFileHeader> parse_cache_header(std::string_view file_start);

/// Whether the slots are all there: an error unless a file has exactly the bytes that it should.
BRIGADE_API Result<void> check_cache_size(const CacheFileHeader& header, std::uint64_t file_bytes);

/// Of everything that a reader gets of a slot that is there: its number, its 32 bytes (without the
/// checksum) and its part of each array: all of a dense tensor, of a ragged one what it has in use.
/// `slots`: where they begin, mapped.
BRIGADE_API std::uint64_t cache_slot_checksum(const std::vector<CacheFileArray>& arrays,
                                              const std::byte* slots, std::uint64_t slot,
                                              std::uint64_t state);
BRIGADE_API std::uint64_t stored_cache_checksum(const std::byte* slots, std::uint64_t slot);
BRIGADE_API void store_cache_checksum(std::byte* slots, std::uint64_t slot, std::uint64_t checksum);

/// Whether the bytes between the arrays, which belong to no slot, are zeros, as they are written.
BRIGADE_API bool cache_gaps_are_zero(const CacheFileHeader& header, std::string_view slots);

/// For tests: the checksum put right, after bytes before it were changed. kCacheHeaderBytes bytes.
BRIGADE_API void seal_cache_header(std::string& text);

/// The hash that stands in the header for `contents`.
BRIGADE_API std::uint64_t cache_contents_hash(std::string_view contents);

}  // namespace brigade
