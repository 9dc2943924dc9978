#include <cstring>

#include "base/text.h"
#include "stages/image/image_index.h"
#include "stages/image/image_stages.h"

namespace brigade {
namespace {

struct ImageFolderParams {
  InputPath root;
};

Contract<ImageFolderParams> image_folder_contract() {
  return Contract<ImageFolderParams>("image_folder",
                                     "Lists the images below a folder that has a folder per class.")
      .producer()
      .param("root", &ImageFolderParams::root,
             "folder of the class folders; labels are 0, 1, ... in the order of their names")
      .required()
      .outputs([](const ImageFolderParams&, const Ports&) -> Result<Ports> {
        return Ports{{"path", DType::u8, {up_to(kPathBytesMax)}}, {"label", DType::i64, {}}};
      })
      .example("producer: image_folder\nshuffle: true\nparams: {root: imagenet/train}\n");
}

class ImageFolder : public Producer {
 public:
  Result<void> open(const OpenContext& context) override {
    root_ = context.params<ImageFolderParams>().root.path;
    while (root_.size() > 1 && root_.ends_with('/')) root_.pop_back();
    BRIGADE_ASSIGN(index_, ImageIndex::scan(root_));
    return {};
  }

  Result<std::uint64_t> size() override { return index_.size(); }

  Result<Next> read(std::uint64_t index, Outputs& out) override {
    const std::string_view path = index_.path(index);
    const auto bytes = static_cast<std::int64_t>(root_.size() + 1 + path.size());
    BRIGADE_ASSIGN(const auto slot, out["path"].resize<std::uint8_t>({bytes}));
    std::memcpy(slot.data(), root_.data(), root_.size());
    slot[root_.size()] = '/';
    std::memcpy(slot.data() + root_.size() + 1, path.data(), path.size());
    out["label"].as<std::int64_t>()[0] = index_.label(index);
    return Next::emit;
  }

  std::string describe(std::uint64_t index) const override {
    return std::string(index_.path(index));
  }

 private:
  std::string root_;
  ImageIndex index_;
};

}  // namespace

void add_image_folder(StageTypes& types) { types.add<ImageFolder>(image_folder_contract()); }

}  // namespace brigade
