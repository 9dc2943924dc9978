// mix_batch: pictures of a batch mixed with each other, and their labels as shares of classes.

#include <algorithm>
#include <cstring>

#include <brigade/text.h>
#include "stages/api/channel_order.h"
#include "stages/image/image_stages.h"
#include "stages/image/mixing.h"

namespace brigade {
namespace {

constexpr double kClassesMax = 1 << 20;
constexpr double kAlphaMax = 1000;

struct MixBatchParams {
  std::int64_t classes = 0;
  double smoothing = 0;
  double mixup = 0;
  double cutmix = 0;
  double p = 1;
  double cutmix_share = 0.5;
  ChannelOrder layout = ChannelOrder::guess;
};

Result<PictureLayout> layout_of(const TensorType& image, ChannelOrder said) {
  const Shape shape = image.bounds();
  const auto bytes = static_cast<std::int64_t>(dtype_bytes(image.dtype));
  if (shape.rank() == 2) return PictureLayout{1, shape[0], shape[1], bytes};
  if (shape.rank() != 3)
    return Error{concat("cutmix needs images with two or three dimensions, found ", image.text())};
  BRIGADE_ASSIGN(const PictureSizes sizes, picture_sizes(image, said));
  if (sizes.order == ChannelOrder::chw)
    return PictureLayout{sizes.channels, sizes.height, sizes.width, bytes};
  return PictureLayout{1, sizes.height, sizes.width, sizes.channels * bytes};
}

Result<Ports> mix_batch_outputs(const MixBatchParams& params, const Ports& in) {
  const TensorType& image = *in.find("image");
  if (image.ragged())
    return Error{concat("expected images of one size, found ", image.text(),
                        "; resize or crop them upstream")};
  if (params.cutmix > 0)
    if (const auto layout = layout_of(image, params.layout); !layout) return layout.error();
  return Ports{image, {"label", f32, {params.classes}}};
}

Contract<MixBatchParams> mix_batch_contract() {
  using Params = MixBatchParams;
  return Contract<Params>("mix_batch",
                          "Mixes the images of a batch (mixup, CutMix); labels become one-hot.")
      .transform()
      .takes(Takes::batches)
      .param("classes", &Params::classes, 1, kClassesMax,
             "number of classes; labels are 0 .. classes - 1")
      .required()
      .param("smoothing", &Params::smoothing, 0, 1,
             "share of each label that is spread evenly over all classes")
      .param("mixup", &Params::mixup, 0, kAlphaMax,
             "alpha of mixup: images are blended with weights from Beta(alpha, alpha); 0: no mixup")
      .param("cutmix", &Params::cutmix, 0, kAlphaMax,
             "alpha of CutMix: a box of the other image covers a share from Beta(alpha, alpha); 0: "
             "no CutMix")
      .param("p", &Params::p, 0, 1, "probability that a batch is mixed")
      .param("cutmix_share", &Params::cutmix_share, 0, 1,
             "probability of cutmix if mixup and cutmix are both set")
      .choice(
          "layout", &Params::layout,
          {{"auto", ChannelOrder::guess}, {"HWC", ChannelOrder::hwc}, {"CHW", ChannelOrder::chw}},
          "layout of the images, for cutmix; auto: derived from the sizes")
      .one_of({{"image", {u8, f32, f16, bf16}, true, {}, "of one size, in any layout"}})
      .input("label", {i64, i32, u8}, {}, "the class")
      .rest_passes()
      .draws([](const Params& params) {
        return params.p > 0 && (params.mixup > 0 || params.cutmix > 0);
      })
      .outputs(mix_batch_outputs)
      .example(
          "transform: mix_batch\n"
          "from: augment\n"
          "batch: 256\n"
          "params: {classes: 1000, smoothing: 0.1, mixup: 0.2, cutmix: 1}\n");
}

class MixBatch : public Stage {
 public:
  Result<void> open(const OpenContext& context) override {
    params_ = context.params<MixBatchParams>();
    const TensorType& image = *context.inputs.find("image");
    if (params_.cutmix > 0) {
      BRIGADE_ASSIGN(layout_, layout_of(image, params_.layout));
    }
    numbers_ = image.bounds().elements();
    return {};
  }

  Result<Next> process(const Inputs& in, Outputs& out) override {
    const TensorView image = in["image"];
    const auto* const from = static_cast<const std::byte*>(image.data());
    auto* const to = static_cast<std::byte*>(out["image"].data());
    const double weight = mix(in.samples(), in.random(), image.dtype(), from, to);
    const TensorView labels = in["label"];
    if (labels.dtype() == i64) return write(in, labels.as<std::int64_t>(), weight, out);
    if (labels.dtype() == i32) return write(in, labels.as<std::int32_t>(), weight, out);
    return write(in, labels.as<std::uint8_t>(), weight, out);
  }

 private:
  /// The share of each picture that stays its own; what else there is in it comes from the picture
  /// before it in the batch, in the first from the last.
  double mix(std::int64_t samples, Philox random, DType dtype, const std::byte* from,
             std::byte* to) const {
    const std::size_t bytes = static_cast<std::size_t>(numbers_) * dtype_bytes(dtype);
    const bool both = params_.mixup > 0 && params_.cutmix > 0;
    const bool any = params_.mixup > 0 || params_.cutmix > 0;
    const bool mixes = any && (params_.p >= 1 || random.chance(params_.p));
    const bool cuts = mixes && (both ? random.chance(params_.cutmix_share) : params_.cutmix > 0);
    if (!mixes || cuts) std::memcpy(to, from, bytes * static_cast<std::size_t>(samples));
    if (!mixes) return 1;
    const double weight = draw_beta(random, cuts ? params_.cutmix : params_.mixup);
    const CutBox box =
        cuts ? draw_cut_box(random, weight, layout_.height, layout_.width) : CutBox{};
    for (std::int64_t i = 0; i < samples; ++i) {
      const std::byte* const own = from + static_cast<std::size_t>(i) * bytes;
      const std::byte* const other =
          from + static_cast<std::size_t>(i == 0 ? samples - 1 : i - 1) * bytes;
      std::byte* const mixed = to + static_cast<std::size_t>(i) * bytes;
      if (cuts) {
        paste_box(layout_, box, other, mixed);
      } else {
        mix_numbers(dtype, own, other, static_cast<float>(weight), numbers_, mixed);
      }
    }
    if (!cuts) return weight;
    const auto pixels = static_cast<double>(layout_.height * layout_.width);
    return 1 - static_cast<double>(box.pixels()) / pixels;
  }

  template <class T>
  Result<Next> write(const Inputs& in, std::span<const T> labels, double weight,
                     Outputs& out) const {
    const auto shares = out["label"].as<float>();
    const auto classes = static_cast<std::size_t>(params_.classes);
    const double even = params_.smoothing / static_cast<double>(params_.classes);
    std::fill(shares.begin(), shares.end(), static_cast<float>(even));
    for (std::size_t i = 0; i < labels.size(); ++i) {
      const std::size_t before = i == 0 ? labels.size() - 1 : i - 1;
      const auto own = static_cast<std::int64_t>(labels[i]);
      if (own < 0 || own >= params_.classes)
        return Error{concat("the label of the sample with id ",
                            in.info(static_cast<std::int64_t>(i)).id, " is ", own,
                            "; with `classes: ", params_.classes, "` labels must be 0 to ",
                            params_.classes - 1)};
      float* const row = shares.data() + i * classes;
      const auto add = [&](std::int64_t label, double share) {
        // Labels of others may be wrong, and are found in their turn.
        if (label >= 0 && label < params_.classes)
          row[label] += static_cast<float>((1 - params_.smoothing) * share);
      };
      add(own, weight);
      if (weight < 1) add(static_cast<std::int64_t>(labels[before]), 1 - weight);
    }
    return Next::emit;
  }

  MixBatchParams params_;
  PictureLayout layout_;
  std::int64_t numbers_ = 0;  // of a picture
};

}  // namespace

void add_mix_batch(StageTypes& types) { types.add<MixBatch>(mix_batch_contract()); }

}  // namespace brigade
