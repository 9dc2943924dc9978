#include <cstring>
#include <filesystem>
#include <vector>

#include <brigade/text.h>
#include "stages/basic/basic_stages.h"
#include "stages/basic/fingerprint.h"
#include "stages/basic/mapped_file.h"
#include "stages/detail/cache_file.h"
#include "stages/detail/keeps_all.h"

namespace brigade {
namespace {

struct CachedParams {
  InputPath file;
};

/// Of a file whose samples are all there.
Result<CacheFileHeader> header_of(const std::string& path, std::string_view start,
                                  std::uint64_t file_bytes) {
  auto header = parse_cache_header(start);
  if (!header) return Error{concat(path, ": ", header.error().message)};
  if (!header->complete)
    return Error{
        concat(path, ": is not complete: the run that writes it has not cached all samples")};
  if (auto whole = check_cache_size(*header, file_bytes); !whole)
    return Error{concat(path, ": ", whole.error().message)};
  return std::move(*header);
}

Ports ports_of(const CacheFileHeader& header) {
  Ports ports;
  for (std::size_t i = 0; i < header.arrays.size(); ++i) {
    ports.tensors.push_back(header.arrays[i].type);
    if (header.arrays[i].type.ragged()) ++i;
  }
  return ports;
}

Result<Ports> cached_outputs(const CachedParams& params, const Ports&,
                             const FileMetadata& metadata) {
  const FileHeader* const file_header = metadata.find("file");
  if (file_header == nullptr) return Error{concat(params.file.path, ": cannot read its header")};
  BRIGADE_ASSIGN(const auto header,
                 header_of(params.file.path, file_header->header, file_header->file_bytes));
  return ports_of(header);
}

std::optional<std::uint64_t> cached_samples(const CachedParams&, const FileMetadata& metadata) {
  const FileHeader* const file_header = metadata.find("file");
  const auto header = parse_cache_header(file_header == nullptr ? "" : file_header->header);
  if (!header) return std::nullopt;
  return header->samples;
}

class Cached : public Producer, public KeepsAll {
 public:
  Result<void> open(const OpenContext& context) override {
    path_ = context.params<CachedParams>().file.path;
    BRIGADE_ASSIGN(file_, MappedFile::open(path_));
    const std::string_view bytes = file_.bytes();
    BRIGADE_ASSIGN(header_, header_of(path_, bytes.substr(0, kCacheHeaderBytes), bytes.size()));
    if (!cache_gaps_are_zero(header_, bytes.substr(kCacheHeaderBytes)))
      return Error{concat(path_, ": is damaged: unexpected bytes between its tensors", kCacheCure)};
    sound_.assign(header_.samples, false);
    if (!(ports_of(header_) == context.outputs))
      return Error{concat(path_, ": changed after the graph was checked: it has other tensors")};
    return {};
  }

  Result<std::uint64_t> size() override { return header_.samples; }

  bool keeps_all() const override {
    for (std::uint64_t index = 0; index < header_.samples; ++index)
      if (state_of(index) != kCacheSlotFull) return false;
    return true;
  }

  // The header has the times of the files that the samples were made from.
  std::uint64_t fingerprint() override {
    Fingerprint slots;
    slots.add_file(file_.bytes().substr(kCacheHeaderBytes));
    return slots.value();
  }

  Result<Next> read(std::uint64_t index, Outputs& out) override {
    const std::uint64_t state = state_of(index);
    if (state != kCacheSlotFull && state != kCacheSlotEmpty)
      return Error{concat(path_, ": is damaged: sample ", index, " is missing", kCacheCure)};
    BRIGADE_TRY(check(index, state));
    if (state == kCacheSlotEmpty) return Next::drop;
    std::size_t at = 0;
    for (std::size_t i = 0; i < header_.arrays.size(); ++i, ++at) {
      const CacheFileArray& array = header_.arrays[i];
      TensorSlot slot = out.at(at);
      if (array.type.ragged()) BRIGADE_TRY(resize(slot, header_.arrays[++i], index));
      std::memcpy(slot.data(), stored_slot(array, index), slot.bytes());
    }
    return Next::emit;
  }

  std::string describe(std::uint64_t index) const override {
    return concat("sample ", index, " of ", std::filesystem::path(path_).filename().string());
  }

 private:
  /// The first time that this process reads the slot.
  Result<void> check(std::uint64_t index, std::uint64_t state) {
    if (sound_[index]) return {};
    const auto* const slots = reinterpret_cast<const std::byte*>(data());
    if (cache_slot_checksum(header_.arrays, slots, index, state) !=
        stored_cache_checksum(slots, index))
      return Error{
          concat(path_, ": is damaged: the checksum of sample ", index, " is wrong", kCacheCure)};
    sound_[index] = true;
    return {};
  }

  std::uint64_t state_of(std::uint64_t index) const {
    std::uint64_t state = 0;
    std::memcpy(&state, data() + index * kCacheSlotWordBytes, sizeof state);
    return state;
  }
  const char* data() const { return file_.bytes().data() + kCacheHeaderBytes; }
  const char* stored_slot(const CacheFileArray& array, std::uint64_t index) const {
    return data() + array.offset + index * array.stride;
  }

  Result<void> resize(TensorSlot& slot, const CacheFileArray& sizes, std::uint64_t index) const {
    Shape shape = slot.bounds();
    for (int d = 0; d < shape.rank(); ++d) {
      std::int64_t size = 0;
      std::memcpy(&size, stored_slot(sizes, index) + static_cast<std::size_t>(d) * sizeof size,
                  sizeof size);
      if (size < 0) return Error{concat(path_, ": is damaged: sample ", index, " has no size")};
      shape[d] = size;
    }
    return slot.resize(shape);
  }

  std::string path_;
  MappedFile file_;
  CacheFileHeader header_;
  std::vector<bool> sound_;  // by sample: its checksum has been found right
};

}  // namespace

void add_cached(StageTypes& types) {
  types.add<Cached>(
      Contract<CachedParams>("cached", "Outputs the samples that a `cache` has written to a file.")
          .producer()
          .param("file", &CachedParams::file, "the complete file that a cache wrote, its `file:`")
          .required()
          .file_header()
          .outputs(cached_outputs)
          .counts(cached_samples)
          .may_drop()
          .example("producer: cached\nshuffle: true\nparams: {file: decoded.cache}\n"));
}

}  // namespace brigade
