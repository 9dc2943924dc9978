#include "stages/opencv/opencv_operations.h"

#include <algorithm>
#include <cmath>

#include <brigade/text.h>
#include "stages/api/other_names.h"
#include "stages/image/augment/operations.h"

namespace brigade::opencv {
namespace {

constexpr double kSideMax = 255;  // of a kernel

template <class... Fs>
struct Overloaded : Fs... {
  using Fs::operator()...;
};
template <class... Fs>
Overloaded(Fs...) -> Overloaded<Fs...>;  // clang 14 needs it

Result<void> check_odd(std::string_view name, const NumberOrRange& sides, double least) {
  const auto is_odd = [](double side) { return std::fmod(side, 2) == 1; };
  if (sides.low >= least && is_odd(sides.low) && is_odd(sides.high)) return {};
  return Error{concat(name, ": expected an odd number from ", least, ", such as ", least,
                      ", or the smallest and the largest, such as [", least, ", 7]")};
}

Result<void> check(const MedianBlur& params) { return check_odd("ksize", params.ksize, 3); }
Result<void> check(const MorphologyEx& params) { return check_odd("ksize", params.ksize, 1); }
Result<void> check(const BilateralFilter& params) {
  if (params.sigma_color.low <= 0) return Error{"sigma_color: expected a number above 0"};
  if (params.sigma_space.low <= 0) return Error{"sigma_space: expected a number above 0"};
  return {};
}
Result<void> check(const Canny& params) {
  if (params.aperture_size % 2 == 1) return {};
  return Error{concat("aperture_size: expected 3, 5 or 7, found ", params.aperture_size)};
}
Result<void> check(const Elastic& params) {
  if (params.sigma.low > 0) return {};
  return Error{"sigma: expected a number above 0"};
}

template <class P>
Contract<P> with_p(Contract<P> table) {
  return table.param("p", static_cast<double P::*>(&P::p), 0, 1, "probability");
}

template <class P>
Contract<P> with_moving(Contract<P> table) {
  return with_p(table
                    .choice("interpolation", static_cast<Pixels P::*>(&P::interpolation),
                            {{"nearest", Pixels::nearest},
                             {"bilinear", Pixels::bilinear},
                             {"bicubic", Pixels::bicubic},
                             {"lanczos4", Pixels::lanczos4}},
                            "how values between pixels are computed")
                    .param("fill", static_cast<std::int64_t P::*>(&P::fill), 0, 255,
                           "level of the pixels outside the image"));
}

template <class P>
OperationType operation(const Contract<P>& table) {
  return {listed_type(table), [](const void* data) -> Result<OperationParams> {
            const P& params = *static_cast<const P*>(data);
            if constexpr (requires { check(params); }) BRIGADE_TRY(check(params));
            return OperationParams(params);
          }};
}

void add_filters(std::vector<OperationType>& types) {
  types.push_back(operation(with_p(
      Contract<Clahe>("clahe", "Equalizes the lightness tile by tile, with limited contrast.")
          .param("clip_limit", &Clahe::clip_limit, 0, 1000,
                 "limit of the contrast: one number, or [low, high]")
          .param("tiles", &Clahe::tiles, 1, 64, "number of tiles per row and per column"))));
  types.push_back(operation(
      with_p(Contract<MedianBlur>("median_blur",
                                  "Replaces each pixel by the median of a square around it.")
                 .param("ksize", &MedianBlur::ksize, 3, kSideMax,
                        "side of the square in pixels, odd: one number, or [smallest, largest]")
                 .required())));
  types.push_back(operation(
      with_p(Contract<BilateralFilter>("bilateral_filter", "Smooths, but keeps edges.")
                 .param("d", &BilateralFilter::d, 1, 31, "diameter of the filter in pixels")
                 .required()
                 .param("sigma_color", &BilateralFilter::sigma_color, 0, 1000,
                        "sigma in levels: one number, or [low, high]")
                 .required()
                 .param("sigma_space", &BilateralFilter::sigma_space, 0, 1000,
                        "sigma in pixels: one number, or [low, high]")
                 .required())));
  types.push_back(operation(with_p(
      Contract<MorphologyEx>("morphology_ex", "Erodes and dilates with a structuring element.")
          .choice("op", &MorphologyEx::op,
                  {{"erode", MorphologyEx::Op::erode},
                   {"dilate", MorphologyEx::Op::dilate},
                   {"open", MorphologyEx::Op::open},
                   {"close", MorphologyEx::Op::close},
                   {"gradient", MorphologyEx::Op::gradient},
                   {"tophat", MorphologyEx::Op::tophat},
                   {"blackhat", MorphologyEx::Op::blackhat}},
                  "cv2's MORPH_ constants")
          .required()
          .param(
              "ksize", &MorphologyEx::ksize, 1, kSideMax,
              "side of the structuring element in pixels, odd: one number, or [smallest, largest]")
          .choice("shape", &MorphologyEx::shape,
                  {{"rect", MorphologyEx::Shape::rect},
                   {"cross", MorphologyEx::Shape::cross},
                   {"ellipse", MorphologyEx::Shape::ellipse}},
                  "shape of the structuring element")
          .param("iterations", &MorphologyEx::iterations, 1, 100, "number of iterations"))));
  types.push_back(operation(
      Contract<Canny>("canny", "Detects edges: 255 on an edge, otherwise 0, in one channel.")
          .param("threshold1", &Canny::threshold1, 0, 100000, "one number, or [low, high]")
          .required()
          .param("threshold2", &Canny::threshold2, 0, 100000, "one number, or [low, high]")
          .required()
          .param("aperture_size", &Canny::aperture_size, 3, 7,
                 "side of the Sobel kernel in pixels: 3, 5 or 7")
          .param("l2_gradient", &Canny::l2_gradient,
                 "use the L2 norm of the gradient instead of the L1 norm")));
}

void add_colors(std::vector<OperationType>& types) {
  types.push_back(operation(Contract<CvtColor>("cvt_color", "Converts to another color space.")
                                .choice("code", &CvtColor::code,
                                        {{"rgb2gray", ColorCode::rgb2gray},
                                         {"rgb2bgr", ColorCode::rgb2bgr},
                                         {"rgb2hsv", ColorCode::rgb2hsv},
                                         {"rgb2hsv_full", ColorCode::rgb2hsv_full},
                                         {"rgb2hls", ColorCode::rgb2hls},
                                         {"rgb2lab", ColorCode::rgb2lab},
                                         {"rgb2luv", ColorCode::rgb2luv},
                                         {"rgb2ycrcb", ColorCode::rgb2ycrcb},
                                         {"rgb2yuv", ColorCode::rgb2yuv},
                                         {"rgb2xyz", ColorCode::rgb2xyz},
                                         {"gray2rgb", ColorCode::gray2rgb},
                                         {"hsv2rgb", ColorCode::hsv2rgb},
                                         {"hls2rgb", ColorCode::hls2rgb},
                                         {"lab2rgb", ColorCode::lab2rgb},
                                         {"luv2rgb", ColorCode::luv2rgb},
                                         {"ycrcb2rgb", ColorCode::ycrcb2rgb},
                                         {"yuv2rgb", ColorCode::yuv2rgb},
                                         {"xyz2rgb", ColorCode::xyz2rgb}},
                                        "cv2's COLOR_ constants")
                                .required()));
}

void add_moving(std::vector<OperationType>& types) {
  types.push_back(operation(
      with_moving(Contract<WarpPerspective>("warp_perspective", "Moves the corners inward.")
                      .param("distortion_scale", &WarpPerspective::distortion_scale, 0, 1,
                             "largest shift of a corner, as a share of half the image"))));
  types.push_back(operation(with_moving(
      Contract<LensDistortion>("lens_distortion", "Bends straight lines as a lens does.")
          .param("k1", &LensDistortion::k1, -10, 10,
                 "coefficient of the squared radius: one number, or [low, high]")
          .param("k2", &LensDistortion::k2, -10, 10,
                 "coefficient of its fourth power: one number, or [low, high]"))));
  types.push_back(operation(with_moving(
      Contract<Elastic>("elastic", "Moves each pixel at random, and its neighbors with it.")
          .param(
              "alpha", &Elastic::alpha, 0, 100000,
              "strength of the noise in pixels, before it is smoothed: one number, or [low, high]")
          .param("sigma", &Elastic::sigma, 0, 100,
                 "sigma of the smoothing in pixels: one number, or [low, high]"))));
}

std::vector<OperationType> all_operation_types() {
  std::vector<OperationType> types;
  add_filters(types);
  add_colors(types);
  add_moving(types);
  return types;
}

Result<OperationParams> make_operation(const ListedEntry& entry) {
  if (find_listed(operation_types(), entry.name) == nullptr &&
      find_listed(brigade::operation_types(), entry.name) != nullptr)
    return Error{concat("unknown operation ", quote(entry.name),
                        "; use the operation of `transform: augment`")};
  return make_listed(operation_types(), entry, "operation");
}

}  // namespace

const std::vector<OperationType>& operation_types() {
  static const std::vector<OperationType> types = all_operation_types();
  return types;
}

Result<void> parse_param(const ParamValue& value, Operations& out) {
  BRIGADE_ASSIGN(out.entries,
                 parse_listed(value, {"operations", "clahe", "{median_blur: {ksize: 5}}"},
                              [](const ListedEntry& entry) -> Result<void> {
                                BRIGADE_TRY(make_operation(entry));
                                return {};
                              }));
  return {};
}

ParamValue print_param(const Operations& value) { return print_listed(value.entries); }

std::vector<OperationParams> make_operations(const Operations& operations) {
  std::vector<OperationParams> made;
  for (const ListedEntry& entry : operations.entries) made.push_back(make_operation(entry).value());
  return made;
}

Result<std::int64_t> channels_after(const OperationParams& operation, std::int64_t channels) {
  if (std::holds_alternative<Canny>(operation)) return kGreyChannels;
  const auto* const color = std::get_if<CvtColor>(&operation);
  if (color == nullptr) return channels;
  const std::int64_t wanted = color->code == ColorCode::gray2rgb ? kGreyChannels : kRgbChannels;
  if (channels != wanted)
    return Error{concat("its code needs images with ", wanted,
                        wanted == 1 ? " channel" : " channels", ", found ", channels)};
  return color->code == ColorCode::rgb2gray ? kGreyChannels : kRgbChannels;
}

bool draws(const OperationParams& operation) {
  return std::visit(
      Overloaded{[](const Clahe& of) { return uncertain(of.p) || !of.clip_limit.is_one(); },
                 [](const MedianBlur& of) { return uncertain(of.p) || !of.ksize.is_one(); },
                 [](const BilateralFilter& of) {
                   return uncertain(of.p) || !of.sigma_color.is_one() || !of.sigma_space.is_one();
                 },
                 [](const MorphologyEx& of) { return uncertain(of.p) || !of.ksize.is_one(); },
                 [](const Canny& of) { return !of.threshold1.is_one() || !of.threshold2.is_one(); },
                 [](const CvtColor&) { return false; },
                 [](const WarpPerspective& of) { return of.p > 0; },
                 [](const LensDistortion& of) {
                   return uncertain(of.p) || !of.k1.is_one() || !of.k2.is_one();
                 },
                 [](const Elastic& of) { return of.p > 0; }},
      operation);
}

bool has_matrix(const OperationParams& operation) {
  return std::holds_alternative<WarpPerspective>(operation);
}

bool moves(const OperationParams& operation) {
  return has_matrix(operation) || std::holds_alternative<LensDistortion>(operation) ||
         std::holds_alternative<Elastic>(operation);
}

}  // namespace brigade::opencv
