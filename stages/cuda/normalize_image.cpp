// normalize_image: of batches of u8 pictures the floats that a model takes, cut out at random and
// mirrored as augment_image does it with the same random numbers. Where the pictures or the floats
// lie on a device it computes there, on the stream of these tensors: a GPU by the kernels, the
// device of the host by their twin. Else it computes on the CPU, to the same bits.

#include <memory>
#include <utility>

#include <brigade/cuda.h>
#include <brigade/text.h>
#include "device/uploader.h"
#include "stages/api/channel_order.h"
#include "stages/cuda/channel_numbers.h"
#include "stages/cuda/cuda_stages.h"

namespace brigade {
namespace {

constexpr double kCutPixelsMax = 1 << 16;  // in pixels, of pad and crop
constexpr double kMeanMax = 1e6;           // of mean and std
constexpr const char* kImage = "image";

struct NormalizeParams {
  enum class Place : std::uint8_t { random, centre };

  ChannelOrder layout = ChannelOrder::guess;
  std::int64_t pad = 0;
  std::int64_t crop = 0;
  Place place = Place::random;
  double flip = 0;
  std::vector<double> mean = {0};
  std::vector<double> std = {1};
  DType dtype = f32;
  bool channels_last = false;
};

Result<cuda::Normalization> normalization_of(const NormalizeParams& params,
                                             const TensorType& image) {
  if (image.ragged())
    return Error{
        concat("expected images of one size, found ", image.text(), "; resize them upstream")};
  BRIGADE_ASSIGN(const PictureSizes sizes, picture_sizes(image, params.layout));
  BRIGADE_TRY(cuda::check_channel_numbers("mean", params.mean, sizes.channels));
  BRIGADE_TRY(cuda::check_channel_numbers("std", params.std, sizes.channels));
  cuda::Normalization to{.height = sizes.height, .width = sizes.width, .channels = sizes.channels};
  to.planes = sizes.order == ChannelOrder::chw;
  to.pad = params.pad;
  to.cut_height = params.crop > 0 ? params.crop : sizes.height;
  to.cut_width = params.crop > 0 ? params.crop : sizes.width;
  to.dtype = params.dtype;
  to.channels_last = params.channels_last;
  to.mean = cuda::of_channels(params.mean);
  to.std = cuda::of_channels(params.std);
  BRIGADE_TRY(cuda::check(to));
  return to;
}

Result<Ports> ports_of_floats(const NormalizeParams& params, const Ports& in) {
  BRIGADE_ASSIGN(const cuda::Normalization to, normalization_of(params, *in.find(kImage)));
  if (params.place == NormalizeParams::Place::centre && params.flip > 0)
    return Error{"`place: centre` does not flip; omit `flip:`"};
  if (to.channels_last)
    return Ports{{kImage, to.dtype, {to.cut_height, to.cut_width, to.channels}}};
  return Ports{{kImage, to.dtype, {to.channels, to.cut_height, to.cut_width}}};
}

std::vector<std::string> the_image(const NormalizeParams&) { return {kImage}; }

void add_the_cut(Contract<NormalizeParams>& contract) {
  using Place = NormalizeParams::Place;
  contract
      .choice(
          "layout", &NormalizeParams::layout,
          {{"auto", ChannelOrder::guess}, {"HWC", ChannelOrder::hwc}, {"CHW", ChannelOrder::chw}},
          "layout of the input images; auto: derived from the sizes")
      .param("pad", &NormalizeParams::pad, 0, kCutPixelsMax, "pixels of zeros added on every side")
      .param("crop", &NormalizeParams::crop, 0, kCutPixelsMax,
             "side in pixels of the square crop; 0: keep height and width")
      .choice("place", &NormalizeParams::place,
              {{"random", Place::random}, {"centre", Place::centre}},
              "position of the crop: random as in augment_image, for training, or in the center")
      .param("flip", &NormalizeParams::flip, 0, 1, "probability of mirroring left to right");
}

Contract<NormalizeParams> normalize_image_contract() {
  Contract<NormalizeParams> contract("normalize_image",
                                     "Converts u8 images to floats, with random crops and flips; "
                                     "runs on a GPU if its input or output is there.");
  add_the_cut(contract);
  return contract.transform()
      .takes(Takes::batches)
      .param("mean", &NormalizeParams::mean, -kMeanMax, kMeanMax,
             "values are (level / 255 - mean) / std: one number for all channels, or one for each")
      .param("std", &NormalizeParams::std, 1 / kMeanMax, kMeanMax,
             "one number for all channels, or one for each")
      .choice("dtype", &NormalizeParams::dtype, {{"f32", f32}, {"f16", f16}, {"bf16", bf16}},
              "dtype of the output")
      .param("channels_last", &NormalizeParams::channels_last,
             "output images in the order HWC; false: CHW")
      .input(kImage, {u8}, {any_size, any_size, any_size}, "HWC or CHW")
      .rest_passes()
      .draws([](const NormalizeParams& params) {
        return params.place == NormalizeParams::Place::random &&
               (params.pad > 0 || params.crop > 0 || params.flip > 0);
      })
      .reads_on_device(the_image)
      .writes_on_device(the_image)
      .uploads(the_image)
      .outputs(ports_of_floats)
      .example(
          "transform: normalize_image\nfrom: images\nparams: {pad: 4, crop: 32, flip: 0.5, dtype: "
          "f16}\nbatch: 64\ndevice: cuda\nmemory: device\n");
}

/// The pictures and the floats of a batch on a device, and the stream that has to do with them.
struct OnDevice {
  const std::uint8_t* pictures = nullptr;
  void* values = nullptr;
  DeviceStream stream = nullptr;
};

DeviceWork work_of(const cuda::Normalization& to, const std::vector<cuda::Cut>& cuts,
                   const OnDevice& at) {
  DeviceWork work;
  work.launch = [to, cuts, at](DeviceStream stream) {
    return cuda::normalize_on_gpu(to, cuts, at.pictures, at.values, stream);
  };
  work.twin = [to, cuts, at] {
    BRIGADE_CHECK(cuda::normalize(to, cuts, at.pictures, at.values).ok(), "cuts are drawn to fit");
  };
  return work;
}

class NormalizeImage : public Stage {
 public:
  Result<void> open(const OpenContext& context) override {
    const auto& params = context.params<NormalizeParams>();
    BRIGADE_ASSIGN(to_, normalization_of(params, *context.inputs.find(kImage)));
    random_ = params.place == NormalizeParams::Place::random;
    flip_ = params.flip;
    device_ = context.tensors_device;
    return device_ == nullptr ? Result<void>() : open_device_memory(context);
  }

  Result<Next> process(const Inputs& in, Outputs& out) override {
    std::vector<cuda::Cut> cuts(static_cast<std::size_t>(in.samples()), cuda::centre_cut(to_));
    for (std::size_t i = 0; random_ && i < cuts.size(); ++i)
      cuts[i] = cuda::random_cut(to_, flip_, in.random(static_cast<std::int64_t>(i)));
    if (device_ != nullptr)
      BRIGADE_TRY(compute(cuts, in, out));
    else
      BRIGADE_TRY(
          cuda::normalize(to_, cuts, in[kImage].as<std::uint8_t>().data(), out[kImage].data()));
    return Next::emit;
  }

 private:
  /// Room for what does not lie on the device by itself.
  Result<void> open_device_memory(const OpenContext& context) {
    const auto batch = static_cast<std::uint64_t>(context.samples_max);
    // Whether there are kernels, before the first sample.
    BRIGADE_TRY(device_->compute(work_of(to_, {}, {}), nullptr));
    if (!context.outputs.find(kImage)->on_device) {
      const std::uint64_t bytes = context.outputs.find(kImage)->bytes_max() * batch;
      BRIGADE_ASSIGN(values_, own<DeviceMemory>(device_, device_->allocate(bytes)));
    }
    if (context.inputs.find(kImage)->on_device) return {};
    const std::uint64_t bytes = context.inputs.find(kImage)->bytes_max() * batch;
    BRIGADE_ASSIGN(pictures_, own<DeviceMemory>(device_, device_->allocate(bytes)));
    BRIGADE_ASSIGN(uploader_, Uploader::create(device_, context.pin, context.input_memory));
    if (!uploader_->report().empty()) context.reporter->log(uploader_->report());
    return {};
  }

  /// The replica waits for the stream: until then nobody writes what it reads.
  Result<void> compute(const std::vector<cuda::Cut>& cuts, const Inputs& in, Outputs& out) {
    OnDevice at;
    at.stream = (uploader_ ? out.device_tensor(kImage) : in.device_tensor(kImage)).stream;
    at.pictures = static_cast<const std::uint8_t*>(uploader_ ? pointer(pictures_)
                                                             : in.device_tensor(kImage).data);
    if (uploader_) BRIGADE_TRY(upload(in[kImage], at.stream));
    const bool stays = out.on_device(kImage);
    at.values = stays ? out.device_tensor(kImage).data : pointer(values_);
    BRIGADE_TRY(device_->compute(work_of(to_, cuts, at), at.stream));
    if (stays) return {};
    const TensorSlot to = out[kImage];
    return device_->copy_to_host(static_cast<std::byte*>(to.data()), values_.get(), to.bytes(),
                                 at.stream);
  }

  Result<void> upload(const TensorView& pictures, DeviceStream user) {
    BRIGADE_TRY(uploader_->begin(user));
    BRIGADE_TRY(uploader_->copy(pictures_.get(), static_cast<const std::byte*>(pictures.data()),
                                pictures.bytes()));
    return uploader_->finish(user, nullptr);
  }

  static void* pointer(const DeviceMemory& memory) { return reinterpret_cast<void*>(memory.get()); }

  cuda::Normalization to_;
  bool random_ = true;
  double flip_ = 0;
  std::shared_ptr<Device> device_;      // null: all lies in the host's memory
  DeviceMemory pictures_;               // of a batch that comes from the host
  DeviceMemory values_;                 // of one that goes there
  std::unique_ptr<Uploader> uploader_;  // of `pictures_`
};

}  // namespace

void add_normalize_image(StageTypes& types) {
  types.add<NormalizeImage>(normalize_image_contract());
}

}  // namespace brigade
