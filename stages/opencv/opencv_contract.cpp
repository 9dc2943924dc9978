#include "stages/opencv/opencv_contract.h"

#include <algorithm>

#include <brigade/text.h>

namespace brigade {
namespace {

using Params = OpenCvParams;

/// Of the largest picture, per pixel: Canny's gradients of three channels, or the fields of
/// `elastic`, beside two pictures on the way and a mask that moves along.
constexpr std::uint64_t kWorkBytesPerPixelMax = 64;

Error in_operation(const Params& params, std::size_t i, const Error& error) {
  return in_listed("operation", params.operations.entries, i, error);
}

/// That of a stage before would be wrong behind an operation that moves pixels.
Result<void> add_geometry(const Params& params, const std::vector<opencv::OperationParams>& made,
                          const Ports& in, Ports& out) {
  const TensorType* const before = in.find("geometry");
  if (before == nullptr || std::none_of(made.begin(), made.end(), opencv::moves)) return {};
  const TensorType type{"geometry", DType::f32, {3, 3}};
  if (*before != type)
    return Error{concat("expected the input tensor ", type.text(), ", found ", before->text())};
  for (std::size_t i = 0; i < made.size(); ++i)
    if (opencv::moves(made[i]) && !opencv::has_matrix(made[i]))
      return in_operation(params, i,
                          Error{"the input tensor geometry is a matrix, which cannot describe this "
                                "operation; omit `geometry: true` in the upstream stage"});
  out.tensors.push_back(type);
  return {};
}

Result<Ports> opencv_outputs(const Params& params, const Ports& in) {
  const TensorType& image = *in.find("image");
  const Dim& channels = image.shape[2];
  if (channels.kind != Dim::Kind::exact ||
      (channels.size != kGreyChannels && channels.size != kRgbChannels))
    return Error{concat("expected images with 1 or 3 channels, found ", image.text())};
  const bool exact = !image.ragged();
  const PictureSize size{image.bounds()[0], image.bounds()[1]};
  if (exact && size.pixels() > params.pixels_max)
    return Error{concat("the image has ", size.height, " x ", size.width, " pixels; pixels_max is ",
                        params.pixels_max)};
  if (exact && std::max(size.height, size.width) > kPictureSideMax)
    return Error{concat("the image has ", size.height, " x ", size.width, " pixels; the limit is ",
                        kPictureSideMax, " per side")};
  const auto made = opencv::make_operations(params.operations);
  std::int64_t left = channels.size;
  for (std::size_t i = 0; i < made.size(); ++i) {
    const auto next = opencv::channels_after(made[i], left);
    if (!next) return in_operation(params, i, next.error());
    left = *next;
  }
  const Dim height = image.shape[0];
  const Dim width = image.shape[1];
  Ports out{{"image", DType::u8, {height, width, Dim(left)}}};
  if (params.layout == Params::Layout::chw) out.tensors[0].shape = {Dim(left), height, width};
  BRIGADE_TRY(add_target_outputs(params.targets, in, {height, width, height, width}, out));
  BRIGADE_TRY(add_geometry(params, made, in, out));
  return out;
}

}  // namespace

Contract<OpenCvParams> opencv_contract() {
  return Contract<Params>("opencv", "Applies a list of OpenCV operations to each image.")
      .transform()
      .param("operations", &Params::operations,
             "operations by cv2's names, such as clahe, median_blur, warp_perspective (`brigade "
             "docs OPENCV`)")
      .param("targets", &Params::targets,
             "annotations that move with the image: mask, boxes, keypoints (`brigade docs "
             "AUGMENTATION`)")
      .param("pixels_max", &Params::pixels_max, 1, static_cast<double>(kPicturePixelsMax),
             "most pixels of an image; a larger image is an error")
      .private_bytes("pixels_max",
                     [](const Params& params) {
                       return static_cast<std::uint64_t>(params.pixels_max) * kWorkBytesPerPixelMax;
                     })
      .choice("layout", &Params::layout,
              {{"HWC", Params::Layout::hwc}, {"CHW", Params::Layout::chw}},
              "order of height, width and channels in the output")
      .input("image", {DType::u8}, {any_size, any_size, up_to(kRgbChannels)}, "HWC, RGB or gray")
      .rest_passes()
      .draws([](const Params& params) {
        const auto made = opencv::make_operations(params.operations);
        return std::any_of(made.begin(), made.end(), opencv::draws);
      })
      .outputs(opencv_outputs)
      .example(
          "transform: opencv\n"
          "from: photos\n"
          "params:\n"
          "  operations:\n"
          "    - clahe: {clip_limit: [1, 4], p: 0.5}\n"
          "    - elastic: {alpha: 120, sigma: 12}\n"
          "    - median_blur: {ksize: [3, 7], p: 0.1}\n"
          "  targets: [mask]\n");
}

}  // namespace brigade
