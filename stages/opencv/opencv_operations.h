#pragma once

// The operations of the stage `opencv`: the parameters of each, as structs, and
// the table that describes them. In the core, without OpenCV; their implementation
// is in the module `opencv` (opencv_steps.h). Users rely on the random numbers
// that an operation draws: docs/OPENCV.md has the order. Pure functions.

#include <cstdint>
#include <functional>
#include <string>
#include <variant>
#include <vector>

#include <brigade/contract.h>
#include <brigade/export.h>
#include "stages/image/augment/operation.h"
#include "stages/image/listed_types.h"

namespace brigade::opencv {

struct Clahe {
  NumberOrRange clip_limit{40, 40, false};
  std::int64_t tiles = 8;
  double p = 1;
};

struct MedianBlur {
  NumberOrRange ksize;
  double p = 1;
};

struct BilateralFilter {
  std::int64_t d = 0;
  NumberOrRange sigma_color;
  NumberOrRange sigma_space;
  double p = 1;
};

struct MorphologyEx {
  enum class Op : std::uint8_t { erode, dilate, open, close, gradient, tophat, blackhat };
  enum class Shape : std::uint8_t { rect, cross, ellipse };
  Op op = Op::open;
  NumberOrRange ksize{3, 3, false};
  Shape shape = Shape::rect;
  std::int64_t iterations = 1;
  double p = 1;
};

struct Canny {
  NumberOrRange threshold1;
  NumberOrRange threshold2;
  std::int64_t aperture_size = 3;
  bool l2_gradient = false;
};

enum class ColorCode : std::uint8_t {
  rgb2gray,
  rgb2bgr,
  rgb2hsv,
  rgb2hsv_full,
  rgb2hls,
  rgb2lab,
  rgb2luv,
  rgb2ycrcb,
  rgb2yuv,
  rgb2xyz,
  gray2rgb,
  hsv2rgb,
  hls2rgb,
  lab2rgb,
  luv2rgb,
  ycrcb2rgb,
  yuv2rgb,
  xyz2rgb
};

struct CvtColor {
  ColorCode code = ColorCode::rgb2gray;
};

enum class Pixels : std::uint8_t { nearest, bilinear, bicubic, lanczos4 };

/// Of operations that move pixels.
struct Moving {
  Pixels interpolation = Pixels::bilinear;
  std::int64_t fill = 0;
  double p = 1;
};

struct WarpPerspective : Moving {
  double distortion_scale = 0.5;
};

struct LensDistortion : Moving {
  NumberOrRange k1{-0.3, 0.3, true};
  NumberOrRange k2;
};

struct Elastic : Moving {
  NumberOrRange alpha{100, 100, false};
  NumberOrRange sigma{10, 10, false};
};

using OperationParams = std::variant<Clahe, MedianBlur, BilateralFilter, MorphologyEx, Canny,
                                     CvtColor, WarpPerspective, LensDistortion, Elastic>;

/// A row of the table.
struct OperationType : ListedType {
  std::function<Result<OperationParams>(const void* params)> make;
};
/// All that there are, in the order of docs/OPENCV.md.
const std::vector<OperationType>& operation_types();

/// The parameter `operations`, as written and checked: the names exist and the parameters fit.
struct Operations {
  std::vector<ListedEntry> entries;
};
Result<void> parse_param(const ParamValue& value, Operations& out);
ParamValue print_param(const Operations& value);

/// Of a list that was checked.
BRIGADE_API std::vector<OperationParams> make_operations(const Operations& operations);

/// Channels of the result, or why pictures of so many cannot be worked on.
Result<std::int64_t> channels_after(const OperationParams& operation, std::int64_t channels);
bool draws(const OperationParams& operation);
/// Whether pixels go to other places.
bool moves(const OperationParams& operation);
/// Whether they go by a matrix.
BRIGADE_API bool has_matrix(const OperationParams& operation);

}  // namespace brigade::opencv

namespace brigade {
template <>
constexpr ParamType param_type_of<opencv::Operations>() {
  return ParamType::operations;
}
}  // namespace brigade
