#pragma once

// The listing of a large dataset as one run of bytes: written once, then mapped
// read-only by every process that needs it, so that a million files cost neither
// time at the start nor memory per process. Flat arrays, no pointers; their
// contents are described in image_index.h and tar_index.h, the common part is here:
//
//   header, 64 bytes | one {offset, bytes} per section | made_from | the sections
//
// Everything is little-endian and begins at multiples of 8. `made_from` describes the source
// of the listing (folders with their times, shards with their sizes), to check whether it is
// still valid. The fingerprint is a hash of the sections alone: the same for equal listings.
//
// Bytes from a file are trusted only as far as parse() has checked them:
// sections are inside the file, and the checksum is correct. Numbers inside
// sections may still have any value; the reader checks each before use.

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include <brigade/result.h>

namespace brigade {

/// Whose listing it is; part of the file, never reused.
enum class IndexKind : std::uint32_t { image_folder = 1, tar_shards = 2 };

/// What the beginning of an index says before all of it was looked at.
struct IndexStart {
  std::string_view made_from;
  std::vector<std::uint64_t> section_bytes;
};

/// `start`: as much of it as there is at hand, of a file of so many bytes. Errors as of parse(),
/// without the checksum; `start` ends before the sections.
Result<IndexStart> look_at_index(std::string_view start, std::uint64_t file_bytes, IndexKind kind);

/// A view of an index; the bytes belong to somebody else.
class IndexFile {
 public:
  IndexFile() = default;
  /// Errors are to be read after the file's name: "is no index of Brigade", "is damaged: ...".
  static Result<IndexFile> parse(std::string_view bytes, IndexKind kind);

  std::string_view made_from() const { return made_from_; }
  std::uint64_t fingerprint() const { return fingerprint_; }
  std::size_t sections() const { return sections_.size(); }
  std::string_view bytes_of(std::size_t section) const { return sections_[section]; }
  /// A section as numbers or plain structs; bytes that make no whole one are left out.
  template <class T>
  std::span<const T> of(std::size_t section) const {
    static_assert(std::is_trivially_copyable_v<T> && alignof(T) <= 8);
    const std::string_view bytes = sections_[section];
    return {reinterpret_cast<const T*>(bytes.data()), bytes.size() / sizeof(T)};
  }

 private:
  std::string_view made_from_;
  std::uint64_t fingerprint_ = 0;
  std::vector<std::string_view> sections_;
};

/// The same from its parts. Sections are numbered in the order in which they were added.
class IndexWriter {
 public:
  void add(std::string_view bytes) { sections_.push_back(bytes); }
  template <class T>
  void add(const std::vector<T>& items) {
    add({reinterpret_cast<const char*>(items.data()), items.size() * sizeof(T)});
  }
  /// What was added must still be there.
  std::string finish(IndexKind kind, std::string_view made_from) const;

 private:
  std::vector<std::string_view> sections_;
};

/// Whether a file with these bytes may be replaced by an index of `kind`: it is one, however old or
/// damaged. Otherwise "is no index of Brigade", "is the index of tar_shards, ...".
Result<void> may_replace_index(std::string_view bytes, IndexKind kind);

/// For tests: the checksum put right, after bytes behind it were changed.
void seal_index(std::string& bytes);

}  // namespace brigade
