#include "stages/image/decode_image_contract.h"

#include <algorithm>

#include <brigade/text.h>

namespace brigade {
namespace {

using Params = DecodeImageParams;

constexpr std::int64_t kPathBytes = 4096;
constexpr std::int64_t kEncodedBytesMax = 64 << 20;
constexpr double kSideMax = 16384;
constexpr double kPixelsMax = 1 << 28;
constexpr double kGapMax = 16;
constexpr double kRatioMin = 0.01;
constexpr double kRatioMax = 100;

/// Memory that decoding takes per pixel of a picture, at most: four components of a progressive
/// JPEG file as coefficients (8), the colours (4), the same upright (3), a mask (1). Or, of all
/// channels, these as stored (2 each), to 8 bits, the same upright, a mask.
std::uint64_t picture_bytes_per_pixel_max(const ChannelCount& channels) {
  constexpr std::uint64_t kRgb = 16;
  const auto count = static_cast<std::uint64_t>(channels.count);
  return channels.rgb() ? kRgb : std::max(kRgb, 4 * count + 1);
}

Result<void> check_range(std::string_view name, const std::vector<double>& range) {
  if (range.size() == 2 && range[0] <= range[1]) return {};
  std::vector<std::string> texts;
  for (const double value : range) texts.push_back(concat(value));
  return Error{concat(name, " must be a lower and an upper limit such as [0.5, 1], found [",
                      join(texts, ", "), "]")};
}

Result<void> check_params(const Params& params) {
  BRIGADE_TRY(check_range("scale", params.scale));
  BRIGADE_TRY(check_range("ratio", params.ratio));
  if (params.size == 0 && params.crop != Params::Crop::none)
    return Error{"size: 0 keeps the image's own size and needs `crop: none`"};
  if (params.reducing_gap != Params().reducing_gap && params.quality != Params::Quality::reduced)
    return Error{"reducing_gap has no effect without `quality: reduced`; omit it"};
  if (params.resize > 0 && params.crop == Params::Crop::random_resized)
    return Error{"resize has no effect with `crop: random_resized`; omit it"};
  if (params.resize > 0 && params.crop == Params::Crop::none && params.size > 0)
    return Error{concat("without a crop, resize ", params.resize, " and size ", params.size,
                        " contradict each other; write `size: 0` to keep the image's shape")};
  if (params.resize > 0 && params.crop == Params::Crop::center && params.resize < params.size)
    return Error{concat("an image whose shorter side is resized to ", params.resize,
                        " pixels has no square of ", params.size, "; set resize to at least size")};
  return {};
}

Result<void> check_mask_tensor(const Ports& in, std::string_view param, const std::string& name,
                               std::string_view what) {
  const TensorType* const mask = in.find(name);
  if (mask != nullptr && mask->dtype == u8 && mask->shape.size() == 1) return {};
  std::vector<std::string> found;
  for (const TensorType& tensor : in.tensors) found.push_back(tensor.text());
  return Error{concat("parameter ", quote(param), ": expected a tensor u8[bytes] with ", what,
                      ", found ", mask == nullptr ? join(found, ", ") : mask->text())};
}

Result<void> check_mask(const Params& params, const Ports& in) {
  if (!params.mask.empty() && !params.mask_path.empty())
    return Error{"mask and mask_path both name the mask; omit one of them"};
  if (params.mask.empty())
    return check_mask_tensor(in, "mask_path", params.mask_path, "the paths of PNG files");
  return check_mask_tensor(in, "mask", params.mask, "PNG files");
}

Result<Ports> decode_image_outputs(const Params& params, const Ports& in) {
  BRIGADE_TRY(check_params(params));
  if (auto source = image_source(in); !source) return source.error();
  const Dim side = params.ragged() ? up_to(params.side_max) : Dim(params.size);
  const std::int64_t count = params.channels.count;
  const Dim channels = params.channels.all ? up_to(count) : Dim(count);
  Ports out{{"image", DType::u8, {side, side, channels}}};
  if (params.geometry) out.tensors.push_back({"geometry", DType::f32, {3, 3}});
  if (params.has_mask()) {
    BRIGADE_TRY(check_mask(params, in));
    out.tensors.push_back({"mask", DType::u8, {side, side}});
  }
  const Dim before = up_to(params.pixels_max);  // each picture has its own sides
  BRIGADE_TRY(add_target_outputs(params.targets, in, {before, before, side, side}, out));
  return out;
}

Contract<Params> with_params() {
  return Contract<Params>("decode_image",
                          "Decodes, crops and resizes an image, to RGB or with all its channels.")
      .transform()
      .choice("crop", &Params::crop,
              {{"random_resized", Params::Crop::random_resized},
               {"center", Params::Crop::center},
               {"none", Params::Crop::none}},
              "a random part resized to a square, for training; the middle, for evaluation; or the "
              "whole image")
      .param("size", &Params::size, 0, kSideMax,
             "side of the square output in pixels; 0, with crop none, keeps the image's own size")
      .param("resize", &Params::resize, 0, kSideMax,
             "pixels of the shorter side before a center crop, or of the whole image with size 0; "
             "0: no resize, smaller images get a black border")
      .param("scale", &Params::scale, 0, 1, "limits of the random part's share of the image area")
      .param("ratio", &Params::ratio, kRatioMin, kRatioMax,
             "limits of the random part's width / height")
      .param("flip", &Params::flip, 0, 1, "probability of mirroring left to right")
      .choice("quality", &Params::quality,
              {{"antialias", Params::Quality::antialias},
               {"bilinear", Params::Quality::bilinear},
               {"reduced", Params::Quality::reduced}},
              "how to shrink: use every pixel (as Pillow does); only the nearest two by two; or "
              "decode a JPEG file at 1/2, 1/4 or 1/8 of its size, and use every pixel of that")
      .param("reducing_gap", &Params::reducing_gap, 1, kGapMax,
             "with quality reduced: at least so many decoded pixels per output pixel and axis "
             "(Pillow's reducing_gap)")
      .param("channels", &Params::channels, 1, kPictureChannelsMax,
             "channels of the output: 3 is RGB; another number keeps all channels and needs files "
             "with exactly that number; `all`: as many as each file has")
      .param("side_max", &Params::side_max, 1, kSideMax,
             "with size 0: most pixels of the longer side; a larger image is an error")
      .param("pixels_max", &Params::pixels_max, 1, kPixelsMax,
             "most pixels (height x width) of an image as stored; a larger image is an error, as "
             "is a file too short for its pixels")
      .param("mask", &Params::mask,
             "tensor with the bytes of a PNG file, one class per pixel of the upright image; it is "
             "cropped, resized (nearest pixel) and flipped with the image and becomes `mask`")
      .param("mask_path", &Params::mask_path,
             "tensor with the path of the mask file instead, as `mask:` of image_list outputs it")
      .param("mask_fill", &Params::mask_fill, 0, 255,
             "value of the mask where the image has a border")
      .param("geometry", &Params::geometry,
             "output the tensor `geometry` f32[3, 3], which maps coordinates of the upright image "
             "to output coordinates (`brigade docs AUGMENTATION`)")
      .param("targets", &Params::targets,
             "annotations of the upright image that move with it: boxes, keypoints, a decoded mask "
             "(`brigade docs AUGMENTATION`)")
      .param(
          "decode_index", &Params::decode_index,
          "file that keeps where the decoder can enter each JPEG file, so that crops are decoded "
          "faster from the second epoch on; made if it is missing, shared by all processes");
}

}  // namespace

Result<void> parse_param(const ParamValue& value, ChannelCount& out) {
  if (value.kind == ParamValue::Kind::scalar && value.text == "all") {
    out = {kPictureChannelsMax, true};
    return {};
  }
  std::int64_t count = 0;
  if (!parse_param(value, count) || count < 1 || count > kPictureChannelsMax)
    return Error{concat(
        "expected a number of channels from 1 to ", kPictureChannelsMax, ", or `all`, found ",
        value.kind == ParamValue::Kind::scalar ? quote(value.text) : "a list or a map")};
  out = {count, false};
  return {};
}

ParamValue print_param(const ChannelCount& value) {
  return value.all ? ParamValue::scalar("all") : print_param(value.count);
}

Result<ImageSource> image_source(const Ports& in) {
  if (in.find("encoded") != nullptr) return ImageSource::encoded;
  if (in.find("file") == nullptr) return ImageSource::path;
  for (const char* name : {"offset", "size"}) {
    const TensorType* const tensor = in.find(name);
    if (tensor == nullptr || tensor->dtype != DType::i64 || !tensor->shape.empty())
      return Error{concat(
          "the tensor `file` needs the tensors `offset` and `size`, i64[], in bytes; ",
          tensor == nullptr ? concat("missing: `", name, "`") : concat("found ", tensor->text()))};
  }
  return ImageSource::range;
}

Contract<Params> decode_image_contract() {
  const std::vector<DType> bytes = {DType::u8};
  return with_params()
      .private_bytes("pixels_max",
                     [](const Params& params) {
                       return static_cast<std::uint64_t>(params.pixels_max) *
                              picture_bytes_per_pixel_max(params.channels);
                     })
      .one_of({{"path", bytes, false, {up_to(kPathBytes)}, "path of the file"},
               {"encoded", bytes, false, {up_to(kEncodedBytesMax)}, "bytes of the file"},
               {"file",
                bytes,
                false,
                {up_to(kPathBytes)},
                "path of a file that contains the image: `size` bytes at `offset`, both i64"}})
      .rest_passes()
      .draws([](const Params& params) {
        return params.crop == Params::Crop::random_resized || params.flip > 0;
      })
      .outputs(decode_image_outputs)
      .example(
          "transform: decode_image\n"
          "from: photos\n"
          "replicas: 2\n"
          "batch: 256\n"
          "params: {crop: random_resized, size: 224, flip: 0.5}\n");
}

}  // namespace brigade
