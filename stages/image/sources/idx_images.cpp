#include <cstring>
#include <filesystem>

#include <brigade/labels.h>
#include <brigade/text.h>
#include "stages/basic/fingerprint.h"
#include "stages/image/image_stages.h"
#include "stages/image/sources/idx_file.h"

namespace brigade {
namespace {

struct IdxImagesParams {
  InputPath images;
  InputPath labels;
};

/// The file's shape as [N, H, W, C].
Result<Shape> image_shape(const std::string& path, const IdxHeader& header) {
  if (header.dtype != DType::u8)
    return Error{
        concat(path, ": holds ", dtype_name(header.dtype), " elements; images must be u8")};
  const Shape& shape = header.shape;
  if (shape.rank() != 3 && shape.rank() != 4)
    return Error{concat(path, ": has shape ", shape_text(shape), "; images have [N, H, W] or ",
                        "[N, H, W, C]",
                        shape.rank() == 1 ? "; check that this is not the file of labels" : "")};
  Shape images = shape;
  if (shape.rank() == 3) images.push_back(1);
  if (header.data_bytes() == 0)
    return Error{concat(path, ": holds no images: its shape is ", shape_text(shape))};
  return images;
}

Result<void> check_labels(const std::string& path, const IdxHeader& header, std::int64_t images,
                          const std::string& images_path) {
  if (header.dtype != DType::u8)
    return Error{
        concat(path, ": holds ", dtype_name(header.dtype), " elements; labels must be u8")};
  if (header.shape.rank() != 1)
    return Error{concat(path, ": has shape ", shape_text(header.shape),
                        "; labels have [N]; check that this is not the file of images")};
  if (header.shape[0] != images)
    return Error{concat(path, ": holds ", format_count(static_cast<std::uint64_t>(header.shape[0])),
                        " labels, but ", images_path, " holds ",
                        format_count(static_cast<std::uint64_t>(images)), " images")};
  return {};
}

Result<IdxHeader> header_of(const InputPath& file, const FileHeader* file_header) {
  if (file_header == nullptr) return Error{concat(file.path, ": cannot read its header")};
  return parse_idx_header(file.path, file_header->header);
}

Result<Ports> idx_outputs(const IdxImagesParams& params, const Ports&,
                          const FileMetadata& metadata) {
  const std::string& images_path = params.images.path;
  const FileHeader* const file = metadata.find("images");
  BRIGADE_ASSIGN(const IdxHeader images, header_of(params.images, file));
  BRIGADE_ASSIGN(const Shape shape, image_shape(images_path, images));
  BRIGADE_TRY(check_idx_length(images_path, *file, images));
  Ports ports{{"image", DType::u8, {shape[1], shape[2], shape[3]}}};
  if (params.labels.path.empty()) return ports;
  const FileHeader* const label_file = metadata.find("labels");
  BRIGADE_ASSIGN(const IdxHeader labels, header_of(params.labels, label_file));
  BRIGADE_TRY(check_labels(params.labels.path, labels, shape[0], images_path));
  BRIGADE_TRY(check_idx_length(params.labels.path, *label_file, labels));
  ports.tensors.push_back({"label", DType::i64, {}});
  return ports;
}

std::optional<std::uint64_t> idx_samples(const IdxImagesParams& params,
                                         const FileMetadata& metadata) {
  const auto header = header_of(params.images, metadata.find("images"));
  if (!header || header->shape.rank() == 0) return std::nullopt;
  return static_cast<std::uint64_t>(header->shape[0]);
}

Contract<IdxImagesParams> idx_images_contract() {
  return Contract<IdxImagesParams>("idx_images",
                                   "Reads the images and labels of IDX files (MNIST).")
      .producer()
      .param("images", &IdxImagesParams::images, "IDX file of u8 images, plain or gzipped")
      .required()
      .file_header()
      .param("labels", &IdxImagesParams::labels, "IDX file of u8 labels; none: no tensor `label`")
      .file_header()
      .outputs(idx_outputs)
      .counts(idx_samples)
      .example(
          "producer: idx_images\n"
          "shuffle: true\n"
          "params: {images: train-images-idx3-ubyte.gz, labels: train-labels-idx1-ubyte.gz}\n");
}

class IdxImages : public Producer, public TellsLabels {
 public:
  Result<void> open(const OpenContext& context) override {
    const auto& params = context.params<IdxImagesParams>();
    const std::string& path = params.images.path;
    name_ = std::filesystem::path(path).filename();
    BRIGADE_ASSIGN(images_, read_idx_file(path));
    BRIGADE_ASSIGN(const Shape shape, image_shape(path, images_.header));
    count_ = shape[0];
    image_bytes_ = static_cast<std::size_t>(shape[1] * shape[2] * shape[3]);
    const TensorType image{"image", DType::u8, {shape[1], shape[2], shape[3]}};
    if (context.outputs.tensors.empty() || !(context.outputs.tensors[0] == image))
      return Error{
          concat(path, ": changed after the graph was checked: it now contains ", image.text())};
    if (params.labels.path.empty()) return {};
    BRIGADE_ASSIGN(labels_, read_idx_file(params.labels.path));
    return check_labels(params.labels.path, labels_.header, count_, path);
  }

  Result<std::uint64_t> size() override { return static_cast<std::uint64_t>(count_); }

  // What is in the files, packed or not.
  std::uint64_t fingerprint() override {
    const auto bytes = [](const std::uint8_t* data, std::size_t size) {
      return std::string_view(reinterpret_cast<const char*>(data), size);
    };
    const auto count = static_cast<std::size_t>(count_);
    Fingerprint all;
    all.add_file(bytes(images_.bytes, count * image_bytes_));
    if (labels_.bytes != nullptr) all.add_file(bytes(labels_.bytes, count));
    return all.value();
  }

  Result<Next> read(std::uint64_t index, Outputs& out) override {
    std::memcpy(out["image"].data(), images_.bytes + index * image_bytes_, image_bytes_);
    if (labels_.bytes != nullptr) out["label"].as<std::int64_t>()[0] = labels_.bytes[index];
    return Next::emit;
  }

  Result<std::int64_t> label_of(std::uint64_t index) override {
    if (labels_.bytes == nullptr) return Error{"the parameter `labels` is not set"};
    return labels_.bytes[index];
  }

  std::string describe(std::uint64_t index) const override {
    return concat("image ", index, " of ", name_);
  }

 private:
  std::string name_;
  std::int64_t count_ = 0;
  std::size_t image_bytes_ = 0;
  IdxData images_;
  IdxData labels_;
};

}  // namespace

void add_idx_images(StageTypes& types) { types.add<IdxImages>(idx_images_contract()); }

}  // namespace brigade
