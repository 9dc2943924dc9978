#include "stages/image/index/index_file.h"

#include <xxhash.h>

#include <algorithm>
#include <cstring>

#include <brigade/text.h>
#include "base/arithmetic.h"

namespace brigade {
namespace {

constexpr std::string_view kMagic = "BRGINDEX";
constexpr std::uint32_t kVersion = 2;  // 2: made_from says what was skipped
constexpr std::uint64_t kSectionsMax = 64;

struct Header {
  char magic[8];
  std::uint32_t version;
  std::uint32_t kind;
  std::uint64_t checksum;  // of all bytes after it
  std::uint64_t bytes;     // of the file
  std::uint64_t fingerprint;
  std::uint64_t made_from_bytes;
  std::uint64_t sections;
  std::uint64_t unused;
};
static_assert(sizeof(Header) == 64);
constexpr std::size_t kSummedFrom = offsetof(Header, bytes);

struct Place {
  std::uint64_t offset;
  std::uint64_t bytes;
};

std::uint64_t in_words(std::uint64_t bytes) { return round_up(bytes, 8); }

std::uint64_t checksum_of(std::string_view bytes) {
  return XXH3_64bits(bytes.data() + kSummedFrom, bytes.size() - kSummedFrom);
}

std::string_view name_of(std::uint32_t kind) {
  switch (static_cast<IndexKind>(kind)) {
    case IndexKind::image_folder:
      return "image_folder";
    case IndexKind::tar_shards:
      return "tar_shards";
  }
  return "";
}

Result<Header> read_header(std::string_view start, std::uint64_t file_bytes, IndexKind kind) {
  BRIGADE_TRY(may_replace_index(start, kind));
  Header header{};
  if (start.size() < sizeof header) return Error{"is damaged: it ends within its header"};
  std::memcpy(&header, start.data(), sizeof header);
  if (header.version != kVersion)
    return Error{concat("has version ", header.version, ", expected ", kVersion)};
  if (header.kind != static_cast<std::uint32_t>(kind))
    return Error{"is damaged: its kind is unknown"};
  if (header.bytes != file_bytes)
    return Error{concat("is damaged: it has ", file_bytes, " bytes of ", header.bytes)};
  return header;
}

/// In order, one after the other: sections that overlap would be no index of ours.
Result<void> check_places(const Header& header, const std::vector<Place>& places) {
  std::uint64_t at = sizeof(Header) + places.size() * sizeof(Place);
  if (header.made_from_bytes > header.bytes) return Error{"is damaged: its sizes do not match"};
  at += in_words(header.made_from_bytes);
  for (const Place& place : places) {
    if (place.offset != at || place.offset > header.bytes ||
        place.bytes > header.bytes - place.offset)
      return Error{"is damaged: its sections do not match its size"};
    at += in_words(place.bytes);
  }
  if (at != header.bytes) return Error{"is damaged: its sections do not match its size"};
  return {};
}

Result<std::vector<Place>> read_places(std::string_view start, const Header& header) {
  if (header.sections > kSectionsMax ||
      header.sections * sizeof(Place) > start.size() - sizeof header)
    return Error{"is damaged: it has too many sections"};
  std::vector<Place> places(header.sections);
  if (!places.empty())
    std::memcpy(places.data(), start.data() + sizeof header, places.size() * sizeof(Place));
  BRIGADE_TRY(check_places(header, places));
  return places;
}

std::string_view made_from_of(std::string_view start, const Header& header) {
  return start.substr(sizeof header + header.sections * sizeof(Place), header.made_from_bytes);
}

}  // namespace

Result<void> may_replace_index(std::string_view bytes, IndexKind kind) {
  if (!bytes.starts_with(kMagic)) return Error{"is not a Brigade index"};
  Header header{};
  std::memcpy(&header, bytes.data(), std::min(bytes.size(), sizeof header));
  const bool other = header.kind != static_cast<std::uint32_t>(kind);
  if (header.version == kVersion && other && !name_of(header.kind).empty())
    return Error{concat("is an index of ", name_of(header.kind), ", expected an index of ",
                        name_of(static_cast<std::uint32_t>(kind)))};
  return {};
}

Result<IndexStart> look_at_index(std::string_view start, std::uint64_t file_bytes, IndexKind kind) {
  BRIGADE_ASSIGN(const Header header, read_header(start, file_bytes, kind));
  BRIGADE_ASSIGN(const std::vector<Place> places, read_places(start, header));
  IndexStart out;
  out.made_from = made_from_of(start, header);
  if (out.made_from.size() != header.made_from_bytes)
    return Error{"is damaged: the description of its source is cut off"};
  for (const Place& place : places) out.section_bytes.push_back(place.bytes);
  return out;
}

Result<IndexFile> IndexFile::parse(std::string_view bytes, IndexKind kind) {
  BRIGADE_ASSIGN(const Header header, read_header(bytes, bytes.size(), kind));
  if (header.checksum != checksum_of(bytes)) return Error{"is damaged: its checksum is wrong"};
  BRIGADE_ASSIGN(const std::vector<Place> places, read_places(bytes, header));
  IndexFile out;
  out.fingerprint_ = header.fingerprint;
  out.made_from_ = made_from_of(bytes, header);
  for (const Place& place : places)
    out.sections_.push_back(bytes.substr(place.offset, place.bytes));
  return out;
}

std::string IndexWriter::finish(IndexKind kind, std::string_view made_from) const {
  std::uint64_t at = sizeof(Header) + sections_.size() * sizeof(Place) + in_words(made_from.size());
  std::vector<Place> places;
  std::uint64_t fingerprint = static_cast<std::uint64_t>(kind);
  for (const std::string_view section : sections_) {
    places.push_back({at, section.size()});
    at += in_words(section.size());
    fingerprint = XXH3_64bits_withSeed(section.data(), section.size(), fingerprint);
  }
  std::string out(at, '\0');
  Header header{};
  std::memcpy(header.magic, kMagic.data(), sizeof header.magic);
  header.version = kVersion;
  header.kind = static_cast<std::uint32_t>(kind);
  header.bytes = at;
  header.fingerprint = fingerprint | 1;  // never 0, which says that none is known
  header.made_from_bytes = made_from.size();
  header.sections = sections_.size();
  std::memcpy(out.data(), &header, sizeof header);
  char* next = out.data() + sizeof header;
  if (!places.empty()) std::memcpy(next, places.data(), places.size() * sizeof(Place));
  made_from.copy(next + places.size() * sizeof(Place), made_from.size());
  for (std::size_t i = 0; i < places.size(); ++i)
    sections_[i].copy(out.data() + places[i].offset, places[i].bytes);
  seal_index(out);
  return out;
}

void seal_index(std::string& bytes) {
  if (bytes.size() < sizeof(Header)) return;
  const std::uint64_t checksum = checksum_of(bytes);
  std::memcpy(bytes.data() + offsetof(Header, checksum), &checksum, sizeof checksum);
}

}  // namespace brigade
