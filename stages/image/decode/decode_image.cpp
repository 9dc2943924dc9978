// decode_image: bytes -> the pixels that the cut needs -> upright -> resized into the output.
// Its memory is kept from image to image, but for what a large one takes; the decoders' own pools
// come and go.

#include <algorithm>
#include <cstring>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <brigade/module.h>
#include <brigade/text.h>
#include "base/units.h"
#include "stages/image/decode/decode_index.h"
#include "stages/image/decode/exif.h"
#include "stages/image/decode/file_bytes.h"
#include "stages/image/decode/image_reader.h"
#include "stages/image/decode_image_contract.h"
#include "stages/image/geometry/crop.h"
#include "stages/image/geometry/picture_move.h"
#include "stages/image/geometry/resample.h"
#include "stages/image/targets/targets.h"

namespace brigade {
namespace {

/// A text in a tensor, which may be padded with zeros.
std::string_view text_of(const TensorView& tensor) {
  std::string_view text(static_cast<const char*>(tensor.data()), tensor.bytes());
  return text.substr(0, text.find('\0'));
}

class DecodeImage : public Stage {
 public:
  Result<void> open(const OpenContext& context) override;
  Result<Next> process(const Inputs& in, Outputs& out) override;

 private:
  Result<std::string_view> bytes_of(const Inputs& in);
  ImageReader& reader_of(std::string_view bytes);
  Result<void> decode(const Inputs& in, Outputs& out);
  Result<ImageHeader> open(std::string_view bytes, ImageReader& reader);
  void say_not_added();
  void say_left_out(int channels);
  void give_back();
  int reduction_of(const Cut& cut) const;
  Result<Pixels> read_upright(ImageReader& reader, const ImageHeader& header, const Box& whole,
                              const Cut& cut);
  Result<std::uint8_t*> output(const Cut& cut, std::int64_t channels, Outputs& out);
  Result<void> move_targets(const Cut& cut, const Box& picture, const Inputs& in, Outputs& out);
  Result<std::string_view> mask_bytes(const Inputs& in);
  Result<void> decode_mask(const Cut& cut, const Box& picture, const Inputs& in, Outputs& out);

  DecodeImageParams params_;
  std::vector<std::unique_ptr<Target>> targets_;
  ImageSource source_ = ImageSource::path;
  std::string name_;  // of the image in hand, for messages
  std::string file_;
  std::optional<DecodeIndex> index_;  // before the reader that uses it
  FileBytes file_bytes_;
  FileBytes mask_file_;
  std::unique_ptr<ImageReader> jpeg_;
  std::unique_ptr<ImageReader> png_;
  std::unique_ptr<ImageReader> other_;
  std::unique_ptr<ImageReader> masks_;
  AxisWeights rows_;
  AxisWeights columns_;
  PictureBytes upright_;
  Resampler resampler_;
  Reporter* reporter_ = nullptr;
  bool said_left_out_ = false;  // by this replica
};

Result<void> DecodeImage::open(const OpenContext& context) {
  params_ = context.params<DecodeImageParams>();
  targets_ = make_targets(params_.targets);
  BRIGADE_ASSIGN(source_, image_source(context.inputs));
  reporter_ = context.reporter;
  if (params_.decode_index.path.empty()) return {};
  auto index = DecodeIndex::open(params_.decode_index.path);
  if (!index) return index.error().within("decode_index");
  index_ = std::move(*index);
  return {};
}

Result<Next> DecodeImage::process(const Inputs& in, Outputs& out) {
  try {
    const auto decoded = decode(in, out);
    give_back();
    if (!decoded) return decoded.error().within(name_);
  } catch (const std::bad_alloc&) {
    give_back();
    return Error{
        "not enough memory for its pixels; set a smaller pixels_max to reject such images early"}
        .within(name_);
  }
  return Next::emit;
}

void DecodeImage::give_back() {
  for (ImageReader* const reader : {jpeg_.get(), png_.get(), other_.get(), masks_.get()})
    if (reader != nullptr) reader->give_back();
  upright_.give_back();
  file_bytes_.give_back();
  mask_file_.give_back();
}

Result<std::string_view> DecodeImage::bytes_of(const Inputs& in) {
  if (source_ == ImageSource::encoded) {
    const TensorView encoded = in["encoded"];
    name_ = in.has("path") ? std::string(text_of(in["path"])) : "encoded image";
    if (encoded.bytes() == 0) return Error{"the tensor has no bytes"};
    return std::string_view(static_cast<const char*>(encoded.data()), encoded.bytes());
  }
  if (source_ == ImageSource::path) {
    name_ = text_of(in["path"]);
    return file_bytes_.read(name_);
  }
  file_ = text_of(in["file"]);
  const std::int64_t offset = in["offset"].as<std::int64_t>()[0];
  name_ = concat(file_, " at byte ", offset);
  return file_bytes_.read(file_, offset, in["size"].as<std::int64_t>()[0]);
}

/// By what the bytes say, not by the file's name: photographs called .JPEG that are PNG exist.
ImageReader& DecodeImage::reader_of(std::string_view bytes) {
  if (is_jpeg(bytes)) {
    if (!jpeg_) jpeg_ = make_jpeg_reader(index_ ? &*index_ : nullptr);
    return *jpeg_;
  }
  if (is_png(bytes)) {
    if (!png_) png_ = make_png_reader();
    return *png_;
  }
  if (!other_) other_ = make_other_reader();
  return *other_;
}

Result<ImageHeader> DecodeImage::open(std::string_view bytes, ImageReader& reader) {
  const bool rgb = params_.channels.rgb();
  auto header = reader.open(bytes, rgb ? Channels::rgb : Channels::stored);
  if (!header) return header;
  if (header->height <= 0 || header->width <= 0)
    return Error{concat("it would have ", header->width, " x ", header->height, " pixels")};
  if (header->height > params_.pixels_max / header->width)
    return Error{concat("it has ", header->width, " x ", header->height, " pixels; pixels_max is ",
                        format_count(params_.pixels_max))};
  if (!params_.channels.all && header->channels != params_.channels.count)
    return Error{concat("it has ", header->channels,
                        header->channels == 1 ? " channel" : " channels",
                        "; `channels: ", params_.channels.count, "` accepts only files with ",
                        params_.channels.count,
                        "; write `channels: all` to accept any number, or `channels: 3` for RGB")};
  if (rgb && header->left_out > 0) say_left_out(header->left_out);
  return header;
}

Result<void> DecodeImage::decode(const Inputs& in, Outputs& out) {
  BRIGADE_ASSIGN(const std::string_view bytes, bytes_of(in));
  ImageReader& reader = reader_of(bytes);
  BRIGADE_ASSIGN(const ImageHeader header, open(bytes, reader));
  const bool swapped = swaps_sides(header.orientation);
  Philox random = in.random();
  const Box whole{0, 0, swapped ? header.width : header.height,
                  swapped ? header.height : header.width};
  const Cut cut = choose_cut(params_, whole.height, whole.width, random);
  BRIGADE_ASSIGN(std::uint8_t* const image, output(cut, header.channels, out));

  BRIGADE_ASSIGN(const Pixels pixels, read_upright(reader, header, whole, cut));
  if (index_) say_not_added();
  if (cut.flip) columns_.mirror();
  const AxisCut& columns = cut.columns;
  const std::int64_t left = cut.flip ? columns.out - columns.pad - columns.count : columns.pad;
  const std::int64_t stride = columns.out * header.channels;
  resampler_.run(pixels, rows_, columns_, image + cut.rows.pad * stride + left * header.channels,
                 stride);
  if (params_.geometry) write_matrix(matrix_of(cut), out["geometry"].as<float>());
  if (!targets_.empty()) BRIGADE_TRY(move_targets(cut, whole, in, out));
  if (!params_.has_mask()) return {};
  return decode_mask(cut, whole, in, out);
}

void DecodeImage::say_not_added() {
  const auto failure = index_->take_failure();
  if (failure && reporter_ != nullptr)
    reporter_->log_once("decode_index",
                        concat("decode_index: ", failure->message,
                               "; the images are the same, new ones are decoded as without it"));
}

void DecodeImage::say_left_out(int channels) {
  if (!said_left_out_ && reporter_ != nullptr)
    reporter_->log_once(
        "channels",
        concat(name_, " has ", channels, channels == 1 ? " channel" : " channels",
               " besides its colors and alpha, and the output omits them; write `channels: all` to "
               "read them. This message is not repeated for other files"));
  said_left_out_ = true;
}

Result<void> DecodeImage::move_targets(const Cut& cut, const Box& picture, const Inputs& in,
                                       Outputs& out) {
  const PictureSize size{picture.height, picture.width};
  const std::vector<PictureMove> moves = moves_of(cut, size);
  const PictureTrip trip{size, moves.back().to, moves};
  for (const auto& target : targets_) BRIGADE_TRY(target->write(in, trip, out));
  return {};
}

Result<std::string_view> DecodeImage::mask_bytes(const Inputs& in) {
  if (!params_.mask.empty()) {
    const TensorView encoded = in[params_.mask];
    return std::string_view(static_cast<const char*>(encoded.data()), encoded.bytes());
  }
  const std::string path(text_of(in[params_.mask_path]));
  auto bytes = mask_file_.read(path);
  if (!bytes) return bytes.error().within(path);
  return bytes;
}

/// Each pixel is that of the mask at its place, rounded down, as torchvision's NEAREST has it.
Result<void> DecodeImage::decode_mask(const Cut& cut, const Box& picture, const Inputs& in,
                                      Outputs& out) {
  const auto wrong = [](const std::string& why) { return Error{"its mask: " + why}; };
  const auto bytes = mask_bytes(in);
  if (!bytes) return wrong(bytes.error().message);
  if (!is_png(*bytes)) return wrong("it is not a PNG file");
  if (!masks_) masks_ = make_mask_reader();
  const auto header = masks_->open(*bytes);
  if (!header) return wrong(header.error().message);
  if (header->height != picture.height || header->width != picture.width)
    return wrong(concat("it has ", header->width, " x ", header->height, " pixels, the image has ",
                        picture.width, " x ", picture.height));
  const AxisCut& rows = cut.rows;
  const AxisCut& columns = cut.columns;
  const auto pixels = masks_->read({rows.begin, columns.begin, rows.size, columns.size});
  if (!pixels) return wrong(pixels.error().message);
  TensorSlot slot = out["mask"];
  if (params_.ragged()) BRIGADE_TRY(slot.resize({rows.out, columns.out}));
  const std::span<std::uint8_t> mask = slot.as<std::uint8_t>();
  std::fill(mask.begin(), mask.end(), static_cast<std::uint8_t>(params_.mask_fill));
  const auto place = [](const AxisCut& axis, std::int64_t i) {
    return (axis.first + i) * axis.size / axis.resized;
  };
  for (std::int64_t y = 0; y < rows.count; ++y) {
    const std::uint8_t* const from = pixels->data + place(rows, y) * pixels->stride;
    std::uint8_t* const to = mask.data() + (rows.pad + y) * columns.out;
    for (std::int64_t x = 0; x < columns.count; ++x) {
      const std::int64_t at = columns.pad + x;
      to[cut.flip ? columns.out - 1 - at : at] = from[place(columns, x)];
    }
  }
  return {};
}

/// By how much the image may be shrunk while it is decoded, as Pillow's Image.draft decides it.
int DecodeImage::reduction_of(const Cut& cut) const {
  if (params_.quality != DecodeImageParams::Quality::reduced) return 1;
  const auto most = [&](const AxisCut& axis) {
    return static_cast<double>(axis.size) /
           (static_cast<double>(axis.resized) * params_.reducing_gap);
  };
  return static_cast<int>(std::max(std::min(most(cut.rows), most(cut.columns)), 1.0));
}

/// Also prepares the weights of both axes.
Result<Pixels> DecodeImage::read_upright(ImageReader& reader, const ImageHeader& header,
                                         const Box& whole, const Cut& cut) {
  const int reduction = reader.reduce(reduction_of(cut));
  const AxisRead rows =
      read_of(cut.rows, whole.height, reduction, rows_are_reversed(header.orientation));
  const AxisRead columns =
      read_of(cut.columns, whole.width, reduction, columns_are_reversed(header.orientation));
  const bool antialias = params_.quality != DecodeImageParams::Quality::bilinear;
  rows_.prepare(rows.resize, antialias);
  columns_.prepare(columns.resize, antialias);
  const Box upright{rows.begin + rows_.first_needed(), columns.begin + columns_.first_needed(),
                    rows_.end_needed() - rows_.first_needed(),
                    columns_.end_needed() - columns_.first_needed()};
  const Box stored = stored_box(upright, header.orientation, shrunk_side(header.height, reduction),
                                shrunk_side(header.width, reduction));
  BRIGADE_ASSIGN(const Pixels pixels, reader.read(stored));
  if (header.orientation == 1) return pixels;
  return turn_upright(pixels, header.orientation, upright_);
}

/// Where the image goes: black where the cut leaves a border, otherwise as it was.
Result<std::uint8_t*> DecodeImage::output(const Cut& cut, std::int64_t channels, Outputs& out) {
  const std::int64_t height = cut.rows.out;
  const std::int64_t width = cut.columns.out;
  TensorSlot slot = out["image"];
  if (params_.ragged()) {
    if (std::max(height, width) > params_.side_max)
      return Error{concat("it has ", width, " x ", height, " pixels, but side_max is ",
                          params_.side_max, "; raise side_max, or set resize")};
  }
  if (params_.ragged() || params_.channels.all) BRIGADE_TRY(slot.resize({height, width, channels}));
  std::uint8_t* const image = slot.as<std::uint8_t>().data();
  if (cut.rows.count < height || cut.columns.count < width) std::memset(image, 0, slot.bytes());
  return image;
}

}  // namespace
}  // namespace brigade

BRIGADE_MODULE(brigade::stage_body<brigade::DecodeImage>("decode_image"))
