#include <cstring>

#include <brigade/labels.h>
#include <brigade/text.h>
#include "stages/image/image_stages.h"
#include "stages/image/index/image_index.h"
#include "stages/image/index/made_from.h"
#include "stages/image/index/saved_index.h"
#include "stages/image/sources/read_ahead.h"

namespace brigade {
namespace {

struct ImageFolderParams {
  InputPath root;
  OutputPath index;
  bool read_ahead = true;
};

std::string root_of(const ImageFolderParams& params) {
  std::string root = params.root.path;
  while (root.size() > 1 && root.ends_with('/')) root.pop_back();
  return root;
}

/// Where the index that was kept still holds.
std::optional<SampleCount> image_folder_samples(const ImageFolderParams& params,
                                                const FileMetadata& metadata) {
  const FileHeader* const file_header = metadata.find("index");
  if (file_header == nullptr || !metadata.stamp) return std::nullopt;
  const auto start =
      look_at_index(file_header->header, file_header->file_bytes, IndexKind::image_folder);
  if (!start || !ImageIndex::is_current(start->made_from, root_of(params), metadata.stamp))
    return std::nullopt;
  return ImageIndex::size_of(*start);
}

Contract<ImageFolderParams> image_folder_contract() {
  return Contract<ImageFolderParams>(std::string(kClassFolderType),
                                     "Lists the images of a folder with one subfolder per class.")
      .producer()
      .param(std::string(kClassFolderParam), &ImageFolderParams::root,
             "folder that contains the class folders; labels are 0, 1, ... in the order of their "
             "names")
      .required()
      .param("index", &ImageFolderParams::index,
             "file that stores the list between runs; it is rebuilt if folders have changed; none: "
             "list the folders at each start")
      .file_header()
      .param("read_ahead", &ImageFolderParams::read_ahead,
             "prefetch upcoming files into the page cache while downstream stages work")
      .outputs([](const ImageFolderParams&, const Ports&) -> Result<Ports> {
        return Ports{{"path", DType::u8, {up_to(kPathBytesMax)}}, {"label", DType::i64, {}}};
      })
      .counts(image_folder_samples)
      .example("producer: image_folder\nshuffle: true\nparams: {root: imagenet/train}\n");
}

class ImageFolder : public Producer, public SkipsInputs, public TellsLabels {
 public:
  Result<void> open(const OpenContext& context) override {
    const auto& params = context.params<ImageFolderParams>();
    read_ahead_ = ReadAhead(params.read_ahead);
    root_ = root_of(params);
    IndexSource source;
    source.kind = IndexKind::image_folder;
    source.file = params.index.path;
    source.again = context.again;
    source.is_current = [this](const IndexFile& file) {
      return ImageIndex::is_current(file, root_);
    };
    source.make = [this] { return ImageIndex::scan(root_); };
    source.reporter = context.reporter;
    BRIGADE_ASSIGN(saved_, SavedIndex::open(source));
    auto index = ImageIndex::of(saved_.get());
    if (!index) return index.error().within(source.file);
    index_ = *index;
    return {};
  }

  Result<std::uint64_t> size() override { return index_.size(); }
  std::vector<SkippedInputs> skipped() const override {
    return skipped_of(saved_.get().made_from());
  }
  std::uint64_t fingerprint() override { return saved_.get().fingerprint(); }

  Result<Next> read(std::uint64_t index, Outputs& out) override {
    BRIGADE_ASSIGN(const ImageEntry image, index_.at(index));
    path_.assign(root_).append("/").append(image.folder).append("/").append(image.name);
    read_ahead_.file(path_);
    BRIGADE_ASSIGN(const auto slot,
                   out["path"].resize<std::uint8_t>({static_cast<std::int64_t>(path_.size())}));
    std::memcpy(slot.data(), path_.data(), path_.size());
    out["label"].as<std::int64_t>()[0] = image.label;
    return Next::emit;
  }

  std::string describe(std::uint64_t index) const override { return index_.path(index); }

  Result<std::int64_t> label_of(std::uint64_t index) override {
    BRIGADE_ASSIGN(const ImageEntry image, index_.at(index));
    return image.label;
  }
  std::vector<std::string> label_names() const override {
    std::vector<std::string> names;
    for (std::size_t i = 0; i < index_.classes(); ++i) names.emplace_back(index_.class_name(i));
    return names;
  }

 private:
  std::string root_;
  ReadAhead read_ahead_;
  SavedIndex saved_;
  ImageIndex index_;
  std::string path_;  // of the image in hand
};

}  // namespace

void add_image_folder(StageTypes& types) { types.add<ImageFolder>(image_folder_contract()); }

}  // namespace brigade
