// augment: a list of operations on each picture, one after another, and its pixels as numbers at
// the end. What is drawn comes from the random numbers of the sample, in the order of the list.

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>

#include <brigade/text.h>
#include "stages/basic/half_float.h"
#include "stages/image/augment/operations.h"
#include "stages/image/decode_image_contract.h"
#include "stages/image/image_stages.h"
#include "stages/image/targets/targets.h"

namespace brigade {
namespace {

constexpr double kScaleMax = 1e6;
/// Of the largest picture, per pixel: two on the canvas and one about to take the place of a
/// smaller one, of three channels. Of more channels a picture has fewer pixels.
constexpr std::uint64_t kWorkBytesPerPixelMax = 24;

enum class PixelLayout : std::uint8_t { hwc, chw };

struct AugmentListParams {
  Operations operations;
  Targets targets;
  bool geometry = false;
  std::int64_t pixels_max = kPicturePixelsMax;
  DType dtype = DType::u8;
  PixelLayout layout = PixelLayout::hwc;
  std::vector<double> mean = {0};
  std::vector<double> std = {1};
};

Error in_operation(const AugmentListParams& params, std::size_t i, const Error& error) {
  return in_listed("operation", params.operations.entries, i, error);
}

Result<void> check_pixels(const AugmentListParams& params, PictureSize size,
                          std::int64_t channels) {
  const std::int64_t threes = std::max(channels, kRgbChannels);
  if (size.pixels() * threes <= params.pixels_max * kRgbChannels) return {};
  return Error{concat("the image has ", size.height, " x ", size.width, " pixels",
                      channels > kRgbChannels ? concat(" and ", channels, " channels") : "",
                      "; pixels_max is ", params.pixels_max,
                      channels > kRgbChannels ? " (for three channels)" : "")};
}

/// What the list makes of pictures of a type.
class ResultSize {
 public:
  ResultSize(const AugmentListParams& params, const TensorType& image)
      : params_(params),
        operations_(make_operations(params.operations)),
        size_{image.bounds()[0], image.bounds()[1]},
        exact_(!image.ragged()) {}

  /// Of all pictures, or the largest.
  PictureSize size() const { return size_; }
  bool exact() const { return exact_; }

  Result<void> follow(std::int64_t channels) {
    channels_ = channels;
    if (exact_) BRIGADE_TRY(check_pixels(params_, size_, channels_));
    for (std::size_t i = 0; i < operations_.size(); ++i) {
      auto fits = operations_[i]->accepts(channels);
      if (fits) fits = pass(i);
      if (fits && pictures() > 1)
        fits = Error{"no operation can follow five_crop; move five_crop to the end"};
      if (!fits) return in_operation(params_, i, fits.error());
      pictures_ = operations_[i]->pictures();
    }
    size_.height /= pictures_;
    return {};
  }
  /// Of each sample.
  std::int64_t pictures() const { return pictures_; }

 private:
  Result<void> pass(std::size_t i) {
    const Operation& operation = *operations_[i];
    const auto fixed = operation.fixed_size();
    if (!exact_ && !fixed && !operation.keeps_size()) return lose_size(i);
    if (known_) {
      // Where the largest picture does not fit, none does.
      BRIGADE_ASSIGN(size_, operation.size_of(size_));
    }
    if (fixed) {
      size_ = *fixed;
      exact_ = known_ = true;
    }
    return exact_ ? check_pixels(params_, size_, channels_) : Result<void>();
  }

  /// An operation after which pictures have sizes that depend on each.
  Result<void> lose_size(std::size_t i) {
    known_ = false;
    const bool fixed_later =
        std::any_of(operations_.begin() + static_cast<std::ptrdiff_t>(i), operations_.end(),
                    [](const auto& operation) { return operation->fixed_size().has_value(); });
    if (fixed_later) return {};
    return Error{
        "outputs images of several sizes; put a crop or `resize: {size: [height, width]}` after "
        "it"};
  }

  const AugmentListParams& params_;
  std::vector<std::unique_ptr<Operation>> operations_;
  PictureSize size_;
  bool exact_;
  std::int64_t channels_ = kRgbChannels;
  std::int64_t pictures_ = 1;
  bool known_ = true;  // size_ is that of the largest picture at least
};

Result<void> check_channels(std::string_view name, const std::vector<double>& values,
                            std::int64_t channels) {
  if (values.size() == 1 || static_cast<std::int64_t>(values.size()) == channels) return {};
  return Error{concat(name, " has ", values.size(), " numbers, the image has ", channels,
                      " channels; give one number for all channels, or one for each")};
}

const TensorType& geometry_type() {
  static const TensorType type{"geometry", DType::f32, {3, 3}};
  return type;
}

/// That of a stage before is carried on, asked for or not: it would be wrong behind this one.
bool gives_geometry(const AugmentListParams& params, const Ports& in) {
  const TensorType* const before = in.find("geometry");
  return params.geometry || (before != nullptr && *before == geometry_type());
}

Result<void> add_geometry(const Ports& in, std::int64_t pictures, Ports& out) {
  if (pictures > 1)
    return Error{
        "geometry cannot follow five_crop, which outputs several images for each input; omit one "
        "of them"};
  const TensorType* const before = in.find("geometry");
  if (before != nullptr && *before != geometry_type())
    return Error{
        concat("expected the input tensor ", geometry_type().text(), ", found ", before->text())};
  out.tensors.push_back(geometry_type());
  return {};
}

Result<Ports> augment_outputs(const AugmentListParams& params, const Ports& in) {
  const TensorType& image = *in.find("image");
  const Dim& channels = image.shape[2];
  if (channels.kind != Dim::Kind::exact || channels.size < 1)
    return Error{concat("expected images with a fixed number of channels, found ", image.text(),
                        "; set a number in decode_image, such as `channels: 8`")};
  BRIGADE_TRY(check_channels("mean", params.mean, channels.size));
  BRIGADE_TRY(check_channels("std", params.std, channels.size));
  const bool scaled = params.mean != std::vector<double>{0} || params.std != std::vector<double>{1};
  if (params.dtype == DType::u8 && scaled)
    return Error{"mean and std need a floating-point dtype; write `dtype: f32`"};
  ResultSize result(params, image);
  BRIGADE_TRY(result.follow(channels.size));
  const auto side = [&](std::int64_t size) { return result.exact() ? Dim(size) : up_to(size); };
  const Dim height = side(result.size().height);
  const Dim width = side(result.size().width);
  Ports out{{"image", params.dtype, {height, width, channels}}};
  if (params.layout == PixelLayout::chw) out.tensors[0].shape = {channels, height, width};
  if (result.pictures() > 1) {
    if (!params.targets.entries.empty())
      return Error{
          "targets cannot follow five_crop, which outputs several images for each input; omit one "
          "of them"};
    auto& sizes = out.tensors[0].shape;
    sizes.insert(sizes.begin(), Dim(result.pictures()));
  }
  BRIGADE_TRY(
      add_target_outputs(params.targets, in, {image.shape[0], image.shape[1], height, width}, out));
  if (gives_geometry(params, in)) BRIGADE_TRY(add_geometry(in, result.pictures(), out));
  return out;
}

Contract<AugmentListParams> augment_contract() {
  using Params = AugmentListParams;
  return Contract<Params>("augment", "Applies a list of operations to each image, for training.")
      .transform()
      .param("operations", &Params::operations,
             "operations by torchvision's names, such as random_crop, color_jitter, rand_augment "
             "(`brigade docs AUGMENTATION`)")
      .param("targets", &Params::targets,
             "annotations that move with the image: mask, boxes, keypoints (`brigade docs "
             "AUGMENTATION`)")
      .param("geometry", &Params::geometry,
             "output the tensor `geometry` f32[3, 3], which maps input coordinates to output "
             "coordinates (`brigade docs AUGMENTATION`)")
      .param("pixels_max", &Params::pixels_max, 1, static_cast<double>(kPicturePixelsMax),
             "most pixels of an image, at the input and after each operation; a larger image is an "
             "error")
      .private_bytes("pixels_max",
                     [](const Params& params) {
                       return static_cast<std::uint64_t>(params.pixels_max) * kWorkBytesPerPixelMax;
                     })
      .choice("dtype", &Params::dtype,
              {{"u8", DType::u8}, {"f32", DType::f32}, {"f16", DType::f16}, {"bf16", DType::bf16}},
              "dtype of the output; floating-point values are (level / 255 - mean) / std")
      .choice("layout", &Params::layout, {{"HWC", PixelLayout::hwc}, {"CHW", PixelLayout::chw}},
              "order of height, width and channels in the output")
      .param("mean", &Params::mean, -kScaleMax, kScaleMax,
             "one number for all channels, or one for each")
      .param("std", &Params::std, 1 / kScaleMax, kScaleMax,
             "one number for all channels, or one for each")
      .input("image", {DType::u8}, {any_size, any_size, up_to(kPictureChannelsMax)}, "HWC")
      .rest_passes()
      .draws([](const Params& params) {
        const auto operations = make_operations(params.operations);
        return std::any_of(operations.begin(), operations.end(),
                           [](const auto& operation) { return operation->draws(); });
      })
      .outputs(augment_outputs)
      .example(
          "transform: augment\n"
          "from: photos\n"
          "params:\n"
          "  operations:\n"
          "    - random_resized_crop: {size: 224}\n"
          "    - random_horizontal_flip\n"
          "    - color_jitter: {brightness: 0.4, contrast: 0.4, saturation: 0.4}\n"
          "  dtype: f16\n"
          "  layout: CHW\n"
          "  mean: [0.485, 0.456, 0.406]\n"
          "  std: [0.229, 0.224, 0.225]\n");
}

/// The numbers that levels become, by channel.
template <class T>
class NumberTable {
 public:
  void prepare(const AugmentListParams& params, std::int64_t channels, T (*convert)(float)) {
    numbers_.resize(static_cast<std::size_t>(channels));
    for (std::size_t c = 0; c < numbers_.size(); ++c) {
      const auto mean = static_cast<float>(params.mean[c % params.mean.size()]);
      const auto std = static_cast<float>(params.std[c % params.std.size()]);
      for (std::size_t level = 0; level < numbers_[c].size(); ++level)
        numbers_[c][level] = convert((static_cast<float>(level) / 255 - mean) / std);
    }
  }

  /// Of a picture of so many pixels.
  void write(const std::uint8_t* from, std::int64_t pixels, std::int64_t channels,
             PixelLayout layout, T* to) const {
    const bool apart = layout == PixelLayout::chw;
    const std::int64_t step = apart ? 1 : channels;
    for (std::int64_t c = 0; c < channels; ++c) {
      const auto& numbers = numbers_[static_cast<std::size_t>(c)];
      T* const first = to + c * (apart ? pixels : 1);
      std::int64_t i = 0;
      if constexpr (sizeof(T) == sizeof(std::uint16_t))
        if (apart) i = write_fours(from + c, pixels, channels, numbers, first);
      for (; i < pixels; ++i) first[i * step] = numbers[from[i * channels + c]];
    }
  }

 private:
  /// By one store for four numbers. How many it has written.
  static std::int64_t write_fours(const std::uint8_t* from, std::int64_t pixels,
                                  std::int64_t channels, const std::array<T, 256>& numbers, T* to) {
    std::int64_t i = 0;
    for (; i + 4 <= pixels; i += 4, from += 4 * channels) {
      const auto bits = [&](std::int64_t at) {
        return std::uint64_t{std::bit_cast<std::uint16_t>(numbers[from[at * channels]])};
      };
      const std::uint64_t four = bits(0) | bits(1) << 16 | bits(2) << 32 | bits(3) << 48;
      std::memcpy(to + i, &four, sizeof four);
    }
    return i;
  }

  std::vector<std::array<T, 256>> numbers_;
};

class Augment : public Stage {
 public:
  Result<void> open(const OpenContext& context) override {
    params_ = context.params<AugmentListParams>();
    operations_ = make_operations(params_.operations);
    targets_ = make_targets(params_.targets);
    const TensorType& image = *context.inputs.find("image");
    const std::int64_t channels = image.shape[2].size;
    ragged_in_ = image.ragged();
    geometry_ = gives_geometry(params_, context.inputs);
    ragged_out_ = context.outputs.find("image")->ragged();
    pictures_ = operations_.empty() ? 1 : operations_.back()->pictures();
    levels_.prepare(params_, channels, [](float value) {
      return static_cast<std::uint8_t>(std::nearbyintf(std::clamp(value, 0.0F, 1.0F) * 255));
    });
    floats_.prepare(params_, channels, [](float value) { return value; });
    halves_.prepare(params_, channels, to_half);
    bfloats_.prepare(params_, channels, to_bfloat16);
    return {};
  }

  Result<Next> process(const Inputs& in, Outputs& out) override {
    const TensorView image = in["image"];
    TensorSlot slot = out["image"];
    const bool bytes = params_.dtype == DType::u8 && params_.layout == PixelLayout::hwc;
    const Shape shape = image.shape();
    if (shape.elements() == 0) return Error{concat("the image is empty: ", shape_text(shape))};
    BRIGADE_TRY(check_pixels(params_, {shape[0], shape[1]}, shape[2]));
    std::uint8_t* const to =
        bytes && !ragged_out_ ? static_cast<std::uint8_t*>(slot.data()) : nullptr;
    canvas_.begin(static_cast<const std::uint8_t*>(image.data()), {shape[0], shape[1]}, shape[2],
                  to, to == nullptr ? 0 : slot.bytes());
    BRIGADE_TRY(work(in.random()));
    if (ragged_out_) BRIGADE_TRY(slot.resize(result_shape()));
    write(slot);
    const PictureTrip trip{{shape[0], shape[1]}, canvas_.size(), canvas_.moves()};
    for (const auto& target : targets_) BRIGADE_TRY(target->write(in, trip, out));
    if (geometry_) write_geometry(in, out);
    return Next::emit;
  }

 private:
  Result<void> work(Philox random) {
    for (std::size_t i = 0; i < operations_.size(); ++i) {
      if (ragged_in_) {
        const auto size = operations_[i]->size_of(canvas_.size());
        if (!size) return in_operation(params_, i, size.error());
        if (const auto fits = check_pixels(params_, *size, canvas_.channels()); !fits)
          return in_operation(params_, i, fits.error());
      }
      operations_[i]->run(canvas_, random);
    }
    return {};
  }

  /// With what a stage before this one has done to the picture.
  void write_geometry(const Inputs& in, Outputs& out) const {
    PlaceMatrix before = kSamePlaces;
    if (in.has("geometry")) {
      const auto given = in["geometry"].as<float>();
      std::copy(given.begin(), given.end(), before.begin());
    }
    write_matrix(chained(before, matrix_of(canvas_.moves())), out["geometry"].as<float>());
  }

  Shape result_shape() const {
    const auto [height, width] = canvas_.size();
    if (params_.layout == PixelLayout::chw) return {canvas_.channels(), height, width};
    return {height, width, canvas_.channels()};
  }

  template <class T>
  void write_numbers(const NumberTable<T>& numbers, TensorSlot& slot) const {
    const std::int64_t pixels = canvas_.size().pixels() / pictures_;
    for (std::int64_t at = 0; at < canvas_.bytes(); at += pixels * canvas_.channels())
      numbers.write(canvas_.pixels() + at, pixels, canvas_.channels(), params_.layout,
                    slot.as<T>().data() + at);
  }

  void write(TensorSlot& slot) const {
    BRIGADE_CHECK(slot.elements() == canvas_.bytes(), slot.elements(), canvas_.bytes());
    if (params_.dtype == DType::f32) {
      write_numbers(floats_, slot);
    } else if (params_.dtype == DType::f16) {
      write_numbers(halves_, slot);
    } else if (params_.dtype == DType::bf16) {
      write_numbers(bfloats_, slot);
    } else if (params_.layout == PixelLayout::chw && canvas_.channels() > 1) {
      write_numbers(levels_, slot);
    } else if (canvas_.pixels() != slot.data()) {
      std::memcpy(slot.data(), canvas_.pixels(), static_cast<std::size_t>(canvas_.bytes()));
    }
  }

  AugmentListParams params_;
  std::vector<std::unique_ptr<Operation>> operations_;
  std::vector<std::unique_ptr<Target>> targets_;
  Canvas canvas_;
  bool ragged_in_ = false;
  bool ragged_out_ = false;
  bool geometry_ = false;
  std::int64_t pictures_ = 1;  // that a sample becomes
  NumberTable<std::uint8_t> levels_;
  NumberTable<float> floats_;
  NumberTable<Half> halves_;
  NumberTable<BFloat16> bfloats_;
};

}  // namespace

void add_augment(StageTypes& types) { types.add<Augment>(augment_contract()); }

}  // namespace brigade
