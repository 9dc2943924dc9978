#pragma once

// The file of `decode_index:`: where JPEG files can be entered (jpeg_positions.h), by a hash of all
// bytes of each. An image is found by what it holds, so a name, a time or a shard plays no part,
// and an image that was replaced is another image.
//
// A header, and records one after another, each with a checksum. A process appends what it
// learns as one record in one write; of several records of an image the last one counts. Nothing is
// ever changed in place: a reader sees a record whole or not at all, a killed writer leaves at most
// a torn one, and readers pass over bytes that are no record. No lock.
//
// One thread. Any number of processes of a machine.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <brigade/result.h>
#include "base/owned_fd.h"
#include "stages/image/decode/jpeg_positions.h"

namespace brigade {

class DecodeIndex {
 public:
  /// XXH3 (128 bits) of an image's bytes.
  struct Key {
    std::uint64_t low = 0;
    std::uint64_t high = 0;
    friend bool operator==(const Key&, const Key&) = default;
  };
  static Key key_of(std::string_view image);

  /// Opens or makes it. Where it may be read only, nothing is added. Errors have the path: a file
  /// that is no such index, one that cannot be opened. An index of another version is replaced.
  static Result<DecodeIndex> open(const std::string& path);

  /// `known` of the last record, also of one that others have just added; 0: there is none.
  std::int64_t newest_known(const Key& key);
  /// Nothing known: {}.
  JpegPositions find(const Key& key);
  /// Where that fails, nothing is added from then on.
  void add(const Key& key, const JpegPositions& positions);
  /// Why nothing is added any more; once.
  std::optional<Error> take_failure() { return std::exchange(failure_, std::nullopt); }

 private:
  /// Where the last record of an image lies. No image: `at` is 0.
  struct Place {
    std::uint64_t key = 0;  // its low half
    std::uint64_t at = 0;
  };

  DecodeIndex(std::string path, OwnedFd file, bool writable)
      : path_(std::move(path)), file_(std::move(file)), writable_(writable) {}
  void read_new();
  std::uint64_t take_records(std::string_view bytes, std::uint64_t at);
  Place& place_of(std::uint64_t key);
  void remember(std::uint64_t key, std::uint64_t at);
  std::string bytes_at(std::uint64_t at, std::size_t count) const;

  std::string path_;
  OwnedFd file_;
  bool writable_;
  std::optional<Error> failure_;
  std::uint64_t read_ = 0;     // bytes of the file that were looked through
  std::vector<Place> places_;  // open addressing; a power of two of them
  std::size_t images_ = 0;
};

}  // namespace brigade
