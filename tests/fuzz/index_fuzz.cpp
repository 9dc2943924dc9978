// Bytes as a kept index, of a folder and of archives, as they are and with their checksum put
// right: whatever is in it, everything that it gives lies inside it.

#include <cstring>
#include <string>

#include <brigade/check.h>
#include "stages/image/index/image_index.h"
#include "stages/image/index/tar_index.h"
#include "tests/fuzz/entry.h"

namespace brigade {
namespace {

constexpr std::uint64_t kSamplesMax = 1000;  // looked at

void check_inside(std::string_view part, std::string_view bytes) {
  if (part.empty()) return;
  BRIGADE_CHECK(part.data() >= bytes.data() && part.size() <= bytes.size() &&
                    part.data() + part.size() <= bytes.data() + bytes.size(),
                part.size());
}

/// The beginning of a file, in which a later part would be.
void read_start(std::string_view bytes, IndexKind kind) {
  const std::string_view start = bytes.substr(0, bytes.size() - bytes.size() / 4);
  const auto found = look_at_index(start, bytes.size(), kind);
  if (!found) return;
  check_inside(found->made_from, start);
  const auto nothing = [](const std::string&) { return std::optional<PathStamp>(); };
  (void)ImageIndex::is_current(found->made_from, "/nowhere", nothing);
  (void)TarIndex::is_current(found->made_from, {"/nowhere"}, {{"jpg"}, {"cls"}, "", {}}, nothing);
  (void)ImageIndex::size_of(*found);
  (void)TarIndex::size_of(*found);
}

void read_folder(std::string_view bytes) {
  const auto file = IndexFile::parse(bytes, IndexKind::image_folder);
  if (!file) return;
  (void)ImageIndex::is_current(*file, "/nowhere");
  const auto index = ImageIndex::of(*file);
  if (!index) return;
  for (std::uint64_t i = 0; i < index->size() && i < kSamplesMax; ++i) {
    const auto entry = index->at(i);
    if (!entry) continue;
    check_inside(entry->folder, bytes);
    check_inside(entry->name, bytes);
    BRIGADE_CHECK(index->path(i).size() <= kPathBytesMax);
  }
  for (std::size_t c = 0; c < index->classes() && c < kSamplesMax; ++c)
    check_inside(index->class_name(c), bytes);
}

void read_shards(std::string_view bytes) {
  const auto file = IndexFile::parse(bytes, IndexKind::tar_shards);
  if (!file) return;
  const TarFields fields{{"jpg"}, {"cls"}, "", {"txt"}};
  const std::vector<std::string> shards = TarIndex::shards_of(*file);
  (void)TarIndex::is_current(*file, shards, fields);
  check_inside(TarIndex::unread_members(*file), bytes);
  const auto index = TarIndex::of(*file, shards.size(), fields);
  if (!index) return;
  for (std::uint64_t i = 0; i < index->size() && i < kSamplesMax; ++i) {
    BRIGADE_CHECK(index->shard(i) <= shards.size());
    check_inside(index->key(i), bytes);
    volatile std::uint64_t used = index->at(i).offset + index->extra(i, 0).offset;
    (void)used;
  }
}

}  // namespace

void fuzz(std::string_view input) {
  std::string bytes(input);
  for (int sealed = 0; sealed < 2; ++sealed) {
    read_start(bytes, IndexKind::image_folder);
    read_start(bytes, IndexKind::tar_shards);
    read_folder(bytes);
    read_shards(bytes);
    const auto may = may_replace_index(bytes, IndexKind::image_folder);
    BRIGADE_CHECK(may || !may.error().message.empty());
    if (bytes.size() < 64) return;
    seal_index(bytes);
  }
}

}  // namespace brigade
