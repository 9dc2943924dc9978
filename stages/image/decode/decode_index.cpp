#include "stages/image/decode/decode_index.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstring>

#include <brigade/text.h>
#include "base/atomic_file.h"
#include "base/io.h"
#include "base/shared_path.h"

namespace brigade {
namespace {

// Numbers are those of the processor; where it is another one, the header differs.
struct Header {
  char magic[16] = {'b', 'r', 'i', 'g', 'a', 'd', 'e', ' ', 'j', 'p', 'e', 'g', ' ', 'i', 'd', 'x'};
  std::uint32_t version = 1;
  std::uint32_t entry_every = JpegPositions::kEntryEvery;
};

constexpr std::uint64_t kRecordMagic = 0x6a70'6567'9d1e'c0deULL;

/// Before its entries.
struct Record {
  std::uint64_t magic = kRecordMagic;
  std::uint64_t sum = 0;  // XXH3 of all that follows
  DecodeIndex::Key key;
  std::uint32_t known = 0;
  std::uint32_t entries = 0;
};

/// A JpegEntry in the file.
struct Stored {
  std::uint32_t byte = 0;
  std::array<std::int16_t, 3> last_dc = {};
  std::uint16_t bit = 0;
};

constexpr std::size_t kSummedAt = offsetof(Record, key);
constexpr std::size_t kBlockBytes = 1 << 20;
/// As many entries as a picture of pixels_max pixels could have, one per block of 8 by 8.
constexpr std::size_t kEntriesMax = std::size_t{1} << 22;
constexpr std::uint32_t kEntriesUsual = 128;
constexpr std::size_t kPlacesMin = 1024;

std::size_t bytes_of(std::uint32_t entries) { return sizeof(Record) + entries * sizeof(Stored); }

template <class T>
std::string_view bytes_view(const T& value) {
  return {reinterpret_cast<const char*>(&value), sizeof value};
}

std::uint64_t sum_of(std::string_view record) {
  return XXH3_64bits(record.data() + kSummedAt, record.size() - kSummedAt);
}

Record record_of(std::string_view bytes) {
  Record record;
  std::memcpy(&record, bytes.data(), sizeof record);
  return record;
}

/// Whether these bytes begin with a record that is whole.
bool is_record(std::string_view bytes) {
  if (bytes.size() < sizeof(Record)) return false;
  const Record record = record_of(bytes);
  return record.magic == kRecordMagic && record.entries <= kEntriesMax &&
         bytes.size() >= bytes_of(record.entries) &&
         record.sum == sum_of(bytes.substr(0, bytes_of(record.entries)));
}

Result<OwnedFd> open_file(const std::string& path, bool& writable) {
  constexpr unsigned kMode = 0644;
  writable = access(path.c_str(), F_OK) != 0 || access(path.c_str(), W_OK) == 0;
  if (writable) return open_shared_path(path, O_RDWR | O_APPEND, kMode, Existing::anything);
  OwnedFd file(retry([&] { return ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY); }));
  if (file.get() < 0) return error_of_errno(concat(path, ": cannot open"));
  if (const std::string why = foreign_owner(path, file.get()); !why.empty())
    return Error{concat(path, ": ", why)};
  return file;
}

/// Its first bytes; written now where the file is new.
Result<std::string> header_of(const std::string& path, int file, bool writable) {
  const auto failed = [&] { return error_of_errno(concat(path, ": cannot be made an index")); };
  struct stat status {};
  if (fstat(file, &status) != 0) return failed();
  if (!S_ISREG(status.st_mode))
    return Error{concat(path, ": is not a regular file; name another file")};
  if (status.st_size == 0 && writable) {
    if (retry([&] { return flock(file, LOCK_EX); }) != 0) return failed();
    if (fstat(file, &status) != 0) return failed();
    if (status.st_size == 0 && !write_all(file, bytes_view(Header()))) return failed();
    flock(file, LOCK_UN);
  }
  const auto begin = read_start(file, sizeof(Header));
  return begin ? Result<std::string>(*begin) : failed();
}

}  // namespace

DecodeIndex::Key DecodeIndex::key_of(std::string_view image) {
  const XXH128_hash_t hash = XXH3_128bits(image.data(), image.size());
  return {hash.low64, hash.high64};
}

Result<DecodeIndex> DecodeIndex::open(const std::string& path) {
  for (bool anew = false;; anew = true) {
    bool writable = false;
    BRIGADE_ASSIGN(OwnedFd file, open_file(path, writable));
    BRIGADE_ASSIGN(const std::string begin, header_of(path, file.get(), writable));
    if (begin == bytes_view(Header())) return DecodeIndex(path, std::move(file), writable);
    if (begin.substr(0, sizeof Header::magic) != bytes_view(Header().magic))
      return Error{concat(path, ": is not a decode index; name another file")};
    if (anew || !writable)
      return Error{concat(path, ": is a decode index of another version; delete it")};
    BRIGADE_TRY(write_file_atomically(path, bytes_view(Header())));
  }
}

JpegPositions DecodeIndex::find(const Key& key) {
  if (places_.empty() || place_of(key.low).at == 0) read_new();
  if (places_.empty()) return {};
  const Place place = place_of(key.low);
  if (place.at == 0) return {};
  std::string bytes = bytes_at(place.at, bytes_of(kEntriesUsual));
  if (bytes.size() < sizeof(Record)) return {};
  const Record record = record_of(bytes);
  if (record.entries > kEntriesMax) return {};
  if (record.entries > kEntriesUsual) bytes = bytes_at(place.at, bytes_of(record.entries));
  if (!is_record(bytes) || !(record.key == key)) return {};
  JpegPositions positions;
  positions.known = record.known;
  positions.entries.resize(record.entries);
  for (std::size_t i = 0; i < positions.entries.size(); ++i) {
    Stored stored;
    std::memcpy(&stored, bytes.data() + sizeof record + i * sizeof stored, sizeof stored);
    positions.entries[i] = {std::uint64_t{stored.byte} * 8 + stored.bit, stored.last_dc};
  }
  return positions;
}

std::int64_t DecodeIndex::newest_known(const Key& key) {
  read_new();
  return find(key).known;
}

void DecodeIndex::add(const Key& key, const JpegPositions& positions) {
  if (!writable_ || positions.entries.empty() || positions.entries.size() > kEntriesMax ||
      positions.entries.back().bits / 8 > UINT32_MAX)
    return;
  Record record;
  record.key = key;
  record.known = static_cast<std::uint32_t>(positions.known);
  record.entries = static_cast<std::uint32_t>(positions.entries.size());
  std::string bytes(bytes_of(record.entries), '\0');
  std::memcpy(bytes.data(), &record, sizeof record);
  for (std::size_t i = 0; i < positions.entries.size(); ++i) {
    const JpegEntry& entry = positions.entries[i];
    const Stored stored{static_cast<std::uint32_t>(entry.bits / 8), entry.last_dc,
                        static_cast<std::uint16_t>(entry.bits % 8)};
    std::memcpy(bytes.data() + sizeof record + i * sizeof stored, &stored, sizeof stored);
  }
  record.sum = sum_of(bytes);
  std::memcpy(bytes.data(), &record, sizeof record);
  // In one call, which appends as a whole: a rest would stand behind another process's record.
  const ssize_t wrote = retry([&] { return ::write(file_.get(), bytes.data(), bytes.size()); });
  if (wrote == static_cast<ssize_t>(bytes.size())) return;
  failure_ = error_of_errno(concat(path_, ": cannot write"), wrote < 0 ? errno : ENOSPC);
  writable_ = false;
}

std::string DecodeIndex::bytes_at(std::uint64_t at, std::size_t count) const {
  std::string bytes(count, '\0');
  const ssize_t got = read_all_at(file_.get(), bytes.data(), count, at);
  bytes.resize(static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
  return bytes;
}

/// What was appended since the last time.
void DecodeIndex::read_new() {
  struct stat status {};
  while (fstat(file_.get(), &status) == 0 && static_cast<std::uint64_t>(status.st_size) > read_) {
    std::size_t want = kBlockBytes;
    for (;;) {
      const std::string bytes = bytes_at(read_, want);
      const std::uint64_t taken = take_records(bytes, read_);
      read_ += taken;
      if (taken > 0) break;
      // A record that is not whole yet, or one that is longer than what was read.
      if (bytes.size() < want || want > bytes_of(kEntriesMax)) return;
      want *= 2;
    }
  }
}

/// Bytes from the first on that need not be looked at again.
std::uint64_t DecodeIndex::take_records(std::string_view bytes, std::uint64_t at) {
  const std::string_view magic(reinterpret_cast<const char*>(&kRecordMagic), sizeof kRecordMagic);
  std::size_t next = 0;
  while (true) {
    const std::string_view rest = bytes.substr(next);
    if (is_record(rest)) {
      const Record record = record_of(rest);
      remember(record.key.low, at + next);
      next += bytes_of(record.entries);
      continue;
    }
    // Torn, or cut off where these bytes end: the one behind it decides.
    const std::size_t found = rest.find(magic, rest.starts_with(magic) ? 1 : 0);
    if (found == rest.npos) return next;
    next += found;
  }
}

/// Its place, or the one that is free for it.
DecodeIndex::Place& DecodeIndex::place_of(std::uint64_t key) {
  std::size_t i = key & (places_.size() - 1);
  while (places_[i].at != 0 && places_[i].key != key) i = (i + 1) & (places_.size() - 1);
  return places_[i];
}

void DecodeIndex::remember(std::uint64_t key, std::uint64_t at) {
  if (2 * images_ >= places_.size()) {
    std::vector<Place> old(std::max(2 * places_.size(), kPlacesMin));
    old.swap(places_);
    for (const Place& place : old)
      if (place.at != 0) place_of(place.key) = place;
  }
  Place& place = place_of(key);
  images_ += place.at == 0 ? 1 : 0;
  place = {key, at};
}

}  // namespace brigade
