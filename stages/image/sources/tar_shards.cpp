// tar_shards: samples of tar archives by their number. It gives where an image lies; whoever
// decodes it reads it there, so no image passes through this process.

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <deque>
#include <filesystem>
#include <limits>
#include <utility>

#include <brigade/labels.h>
#include <brigade/text.h>
#include "base/io.h"
#include "stages/api/file_patterns.h"
#include "stages/image/image_stages.h"
#include "stages/image/index/class_names.h"
#include "stages/image/index/image_index.h"
#include "stages/image/index/json_field.h"
#include "stages/image/index/made_from.h"
#include "stages/image/index/saved_index.h"
#include "stages/image/index/tar_index.h"
#include "stages/image/index/tar_walk.h"
#include "stages/image/sources/read_ahead.h"
#include "stages/image/sources/tar_shards_params.h"

namespace brigade {
namespace {

constexpr std::size_t kOpenShardsMax = 64;
constexpr std::int64_t kExtraBytesMax = 64 << 20;

/// "seg.png" as a tensor's name: dots mean something else there.
std::string tensor_name(std::string extension) {
  std::replace(extension.begin(), extension.end(), '.', '_');
  return extension;
}

Result<Ports> tar_shards_outputs(const TarShardsParams& params, const Ports&) {
  BRIGADE_ASSIGN(const TarFields fields, tar_fields_of(params));
  for (const std::string& shard : params.shards.patterns)
    if (const auto how = packed_by(shard); !how.empty()) return packed_archive(how).within(shard);
  Ports ports{{"file", u8, {up_to(kPathBytesMax)}},
              {"offset", i64, {}},
              {"size", i64, {}},
              {"key", u8, {up_to(params.key_bytes)}}};
  if (!fields.label.empty()) ports.tensors.push_back({"label", i64, {}});
  for (const std::string& extension : fields.extra) {
    const std::string name = tensor_name(extension);
    if (name.empty() || ports.find(name) != nullptr)
      return Error{
          concat("extra: ", quote(extension), " would create a duplicate tensor ", quote(name))};
    ports.tensors.push_back({name, u8, {up_to(params.extra_bytes)}});
  }
  return ports;
}

/// Where the index that was kept still holds, of archives that are all named: what a wildcard
/// stands for now, only a look at the folder can say.
std::optional<SampleCount> tar_shards_samples(const TarShardsParams& params,
                                              const FileMetadata& metadata) {
  const FileHeader* const file_header = metadata.find("index");
  const auto fields = tar_fields_of(params);
  const auto shards = expand_all_braces(params.shards.patterns);
  if (file_header == nullptr || !metadata.stamp || !fields || !shards ||
      std::any_of(shards->begin(), shards->end(), is_wildcard))
    return std::nullopt;
  const auto start =
      look_at_index(file_header->header, file_header->file_bytes, IndexKind::tar_shards);
  if (!start || !TarIndex::is_current(start->made_from, *shards, *fields, metadata.stamp))
    return std::nullopt;
  return TarIndex::size_of(*start);
}

Contract<TarShardsParams> tar_shards_contract() {
  return Contract<TarShardsParams>("tar_shards",
                                   "Lists the images of tar archives with adjacent members "
                                   "KEY.jpg, KEY.cls, ... (WebDataset).")
      .producer()
      .param("shards", &TarShardsParams::shards,
             "uncompressed archives: a list, ranges such as train-{000..146}.tar, or wildcards")
      .required()
      .param("image", &TarShardsParams::image, "extensions of the image members")
      .param("label", &TarShardsParams::label,
             "extension of the member with the label, an integer as text; several such as cls;txt: "
             "the first that a key has; none: no labels")
      .param("label_field", &TarShardsParams::label_field,
             "field of the label, such as label or meta.class, if the label member is JSON (its "
             "extension ends in json)")
      .choice("labels", &TarShardsParams::labels,
              {{"numbers", TarLabels::numbers}, {"names", TarLabels::names}},
              "how labels are written: integers, or names, which become 0, 1, ... in sorted order")
      .param("classes", &TarShardsParams::classes,
             "file with the names of classes 0, 1, ..., one per line; labels are these names")
      .param("extra", &TarShardsParams::extra,
             "extensions of members to output as bytes, each as a tensor with that name")
      .param("extra_bytes", &TarShardsParams::extra_bytes, 1, kExtraBytesMax,
             "most bytes of an extra member; a longer one is an error")
      .param("key_bytes", &TarShardsParams::key_bytes, 1, kPathBytesMax,
             "most bytes of a key; a longer one is an error")
      .param("index", &TarShardsParams::index,
             "file that stores the positions of all members between runs; it is rebuilt if an "
             "archive has changed; none: scan the archives at each start")
      .file_header()
      .param("read_ahead", &TarShardsParams::read_ahead,
             "prefetch upcoming images into the page cache while downstream stages work")
      .outputs(tar_shards_outputs)
      .counts(tar_shards_samples)
      .named_classes([](const TarShardsParams&) -> std::optional<std::vector<NamedClass>> {
        return std::nullopt;  // in the archives
      })
      .example(
          "producer: tar_shards\n"
          "shuffle: true\n"
          "params: {shards: \"train-{000..146}.tar\", index: train.index}\n");
}

/// Descriptors of archives, the longest open closed first.
class OpenShards {
 public:
  OpenShards() = default;
  OpenShards(const OpenShards&) = delete;
  OpenShards& operator=(const OpenShards&) = delete;
  ~OpenShards() {
    for (const auto& [shard, fd] : open_) close(fd);
  }

  /// Negative, with errno, where it cannot be opened.
  int get(std::size_t shard, const std::string& path) {
    for (const auto& [number, fd] : open_)
      if (number == shard) return fd;
    const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0) return fd;
    if (open_.size() == kOpenShardsMax) {
      close(open_.front().second);
      open_.pop_front();
    }
    open_.emplace_back(shard, fd);
    return fd;
  }

 private:
  std::deque<std::pair<std::size_t, int>> open_;
};

class TarShards : public Producer, public SkipsInputs, public TellsLabels {
 public:
  Result<void> open(const OpenContext& context) override {
    const auto& params = context.params<TarShardsParams>();
    BRIGADE_ASSIGN(fields_, tar_fields_of(params));
    BRIGADE_ASSIGN(shards_, list_files(params.shards.patterns));
    read_ahead_ = params.read_ahead;
    for (const std::string& shard : shards_)
      if (shard.size() >= kPathBytesMax)
        return Error{concat(shard, ": longer than ", kPathBytesMax - 1, " bytes")};
    IndexSource source;
    source.kind = IndexKind::tar_shards;
    source.file = params.index.path;
    source.again = context.again;
    source.is_current = [this](const IndexFile& file) {
      return TarIndex::is_current(file, shards_, fields_);
    };
    source.make = [this] { return TarIndex::scan(shards_, fields_); };
    source.reporter = context.reporter;
    BRIGADE_ASSIGN(saved_, SavedIndex::open(source));
    shards_ = TarIndex::shards_of(saved_.get());  // started again, those of the beginning
    auto index = TarIndex::of(saved_.get(), shards_.size(), fields_);
    if (!index) return index.error().within(source.file);
    index_ = std::move(*index);
    const std::string_view unread = TarIndex::unread_members(saved_.get());
    if (context.replica == 0 && !context.again && context.reporter != nullptr && !unread.empty())
      context.reporter->log(unread);
    return {};
  }

  Result<std::uint64_t> size() override { return index_.size(); }
  std::vector<SkippedInputs> skipped() const override {
    return skipped_of(saved_.get().made_from());
  }
  std::uint64_t fingerprint() override { return saved_.get().fingerprint(); }

  Result<Next> read(std::uint64_t index, Outputs& out) override {
    const TarSample& sample = index_.at(index);
    const std::size_t shard = index_.shard(index);
    if (shard >= shards_.size()) return Error{concat("the index is damaged at sample ", index)};
    if (sample.state != static_cast<std::uint8_t>(TarState::good)) return fault(index, shard);
    const std::string& path = shards_[shard];
    const int fd = read_ahead_ || !fields_.extra.empty() ? open_.get(shard, path) : -1;
    if (fd < 0 && !fields_.extra.empty()) return error_of_errno(concat(path, ": cannot open"));
    if (read_ahead_ && fd >= 0) read_ahead(fd, sample.offset, sample.size);
    BRIGADE_TRY(put(path, out["file"]));
    out["offset"].as<std::int64_t>()[0] = static_cast<std::int64_t>(sample.offset);
    out["size"].as<std::int64_t>()[0] = sample.size;
    const std::string_view key = index_.key(index);
    if (key.size() > static_cast<std::size_t>(out["key"].bounds()[0]))
      return Error{concat(name_of(index, shard), ": its key has ", key.size(),
                          " bytes, but key_bytes is ", out["key"].bounds()[0])};
    BRIGADE_TRY(put(key, out["key"]));
    if (!fields_.label.empty()) out["label"].as<std::int64_t>()[0] = sample.label;
    for (std::size_t e = 0; e < fields_.extra.size(); ++e)
      if (auto got = put_extra(index, shard, e, fd, out); !got) return got.error();
    return Next::emit;
  }

  std::string describe(std::uint64_t index) const override {
    return name_of(index, index_.shard(index));
  }

  Result<std::int64_t> label_of(std::uint64_t index) override {
    if (fields_.label.empty()) return Error{"the source has `label: none`"};
    const TarSample& sample = index_.at(index);
    if (sample.state != static_cast<std::uint8_t>(TarState::good))
      return fault(index, index_.shard(index));
    return sample.label;
  }
  std::vector<std::string> label_names() const override {
    std::vector<std::string> names;
    for (const std::string_view name : split(index_.classes(), '\n'))
      if (!name.empty()) names.emplace_back(name);
    return names;
  }

 private:
  static Result<void> put(std::string_view text, TensorSlot slot) {
    BRIGADE_ASSIGN(const auto to,
                   slot.resize<std::uint8_t>({static_cast<std::int64_t>(text.size())}));
    if (!text.empty()) std::memcpy(to.data(), text.data(), text.size());
    return {};
  }

  /// "train-000003.tar: n01440764_10026.jpg".
  std::string name_of(std::uint64_t index, std::size_t shard) const {
    if (shard >= shards_.size()) return concat("sample ", index);
    const TarSample& sample = index_.at(index);
    const bool image = sample.image < fields_.image.size() &&
                       sample.state != static_cast<std::uint8_t>(TarState::no_image);
    return concat(std::filesystem::path(shards_[shard]).filename().string(), ": ",
                  index_.key(index), image ? concat(".", fields_.image[sample.image]) : "");
  }

  Error fault(std::uint64_t index, std::size_t shard) {
    const std::string& path = shards_[shard];
    const std::string_view key = index_.key(index);
    switch (static_cast<TarState>(index_.at(index).state)) {
      case TarState::no_image:
        return Error{concat(path, ": ", quote(key), " has no image; expected ", key, ".",
                            join(fields_.image, ", .", " or ."))};
      case TarState::empty_image:
        return Error{concat(path, ": the image of ", quote(key), " is empty")};
      case TarState::no_label:
        return Error{concat(path, ": ", quote(key), " has no label; expected ", key, ".",
                            join(fields_.label, ", .", " or ."),
                            "; write `label: none` for images without labels")};
      case TarState::bad_label:
        return bad_label(index, shard);
      case TarState::good:
        break;
    }
    return Error{concat("the index is damaged at sample ", index)};
  }

  Error bad_label(std::uint64_t index, std::size_t shard) {
    const TarSample& sample = index_.at(index);
    const auto which = static_cast<std::size_t>(sample.label);
    const std::string extension = which < fields_.label.size() ? fields_.label[which] : "";
    const std::string name = concat(shards_[shard], ": ", index_.key(index), ".", extension);
    const bool json = is_json_name(extension);
    std::string text(sample.size, '\0');
    const int fd = open_.get(shard, shards_[shard]);
    if (fd < 0) return error_of_errno(concat(name, ": cannot open"));
    const ssize_t got = read_all_at(fd, text.data(), text.size(), sample.offset);
    text.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
    const auto changed = Error{concat(name, ": changed after its index was built")};
    if (!fields_.names) {
      const auto label = label_number(text, extension, fields_);
      return label ? changed : label.error().within(name);
    }
    auto named = json ? json_text(text, fields_.label_field) : Result<std::string>(text);
    if (!named) return named.error().within(name);
    const auto label = parse_class_name(*named);
    if (!label) return label.error().within(name);
    if (fields_.classes.empty() || index_.has_class(*label)) return changed;
    return Error{concat(name, ": ", not_a_class(*label, index_.class_count(), fields_.classes))};
  }

  Result<void> put_extra(std::uint64_t index, std::size_t shard, std::size_t which, int fd,
                         Outputs& out) {
    const TarPlace place = index_.extra(index, which);
    const std::string& extension = fields_.extra[which];
    const auto failed = [&](std::string_view what) {
      return Error{concat(shards_[shard], ": ", index_.key(index), ".", extension, ": ", what)};
    };
    TensorSlot slot = out[tensor_name(extension)];
    if (place.offset == 0) return failed("the archive has no such member");
    if (place.size > static_cast<std::uint64_t>(slot.bounds()[0]))
      return failed(concat("has ", format_count(place.size), " bytes, but extra_bytes is ",
                           slot.bounds()[0]));
    BRIGADE_ASSIGN(const auto to,
                   slot.resize<std::uint8_t>({static_cast<std::int64_t>(place.size)}));
    const ssize_t have = read_all_at(fd, to.data(), to.size(), place.offset);
    if (have < 0) return failed(error_of_errno("cannot read").message);
    if (static_cast<std::size_t>(have) < to.size()) return failed("the archive was truncated");
    return {};
  }

  TarFields fields_;
  std::vector<std::string> shards_;
  bool read_ahead_ = true;
  SavedIndex saved_;
  TarIndex index_;
  OpenShards open_;
};

}  // namespace

void add_tar_shards(StageTypes& types) { types.add<TarShards>(tar_shards_contract()); }

}  // namespace brigade
