#include "pipeline/cli/samples/contact_sheet.h"

#include <algorithm>
#include <array>
#include <cmath>

#include <brigade/text.h>
#include "pipeline/cli/samples/png.h"
#include "stages/basic/half_float.h"
#include "stages/image/geometry/resample.h"

namespace brigade {
namespace {

using Color = std::array<std::uint8_t, 3>;

constexpr std::int64_t kGap = 4;  // pixels between cells, and around all of them
constexpr std::int64_t kSideMax = 1 << 13;
constexpr std::int64_t kFloatSideMin = 8;  // of floating-point numbers [H, W]
constexpr std::int64_t kChannelsMax = 32;
constexpr std::int64_t kPicturesMax = 16;  // of one tensor
constexpr std::uint8_t kPaper = 255;
// In a u8 tensor that is taken for classes.
constexpr float kLargestClass = 31;
constexpr float kIgnored = 255;
constexpr Color kBoxColor = {255, 0, 64};

/// Where the numbers of a picture lie within a tensor.
struct Plane {
  std::int64_t height = 0;
  std::int64_t width = 0;
  std::int64_t channels = 1;
  std::int64_t pixel_step = 1;
  std::int64_t channel_step = 1;

  std::int64_t pixels() const { return height * width; }
};

bool is_floating(DType dtype) {
  return dtype == f16 || dtype == bf16 || dtype == f32 || dtype == f64;
}

/// Of a tensor's last `rank` dimensions, 2 or 3.
std::optional<Plane> plane_of(const Shape& shape, int rank, DType dtype) {
  const auto size = [&](int i) { return shape[shape.rank() - rank + i]; };
  const auto is_color = [](std::int64_t channels) { return channels == 1 || channels == 3; };
  // Other numbers of channels, of which the first three are drawn. [n, height, width] of whole
  // numbers may be masks, [n, points, 2] of others places.
  const bool bytes = dtype == u8;
  const auto is_few = [&](int i) {
    return size(i) >= (bytes ? 2 : 4) && size(i) <= kChannelsMax && size(i) < size(1) &&
           size(i) < size(2 - i);
  };
  Plane plane;
  if (rank == 2)
    plane = {size(0), size(1), 1, 1, 1};
  else if (is_color(size(2)))
    plane = {size(0), size(1), size(2), size(2), 1};
  else if (is_color(size(0)))
    plane = {size(1), size(2), size(0), 1, size(1) * size(2)};
  else if (is_few(2))
    plane = {size(0), size(1), size(2), size(2), 1};
  else if (is_floating(dtype) && is_few(0))
    plane = {size(1), size(2), size(0), 1, size(1) * size(2)};
  const auto fits = [](std::int64_t side) { return side >= 2 && side <= kSideMax; };
  return fits(plane.height) && fits(plane.width) ? std::optional(plane) : std::nullopt;
}

float number_of(Half value) { return to_float(value); }
float number_of(BFloat16 value) { return to_float(value); }
template <class T>
requires std::is_arithmetic_v<T>
float number_of(T value) { return static_cast<float>(value); }

template <class T>
std::vector<float> numbers(const TensorView& tensor, std::int64_t first, std::int64_t count) {
  std::vector<float> all;
  const auto elements =
      tensor.as<T>().subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(count));
  for (const T& element : elements) all.push_back(number_of(element));
  return all;
}

std::vector<float> numbers_of(const TensorView& tensor, std::int64_t first, std::int64_t count) {
  switch (tensor.dtype()) {
    case boolean:
      return numbers<bool>(tensor, first, count);
    case u8:
      return numbers<std::uint8_t>(tensor, first, count);
    case i8:
      return numbers<std::int8_t>(tensor, first, count);
    case i16:
      return numbers<std::int16_t>(tensor, first, count);
    case i32:
      return numbers<std::int32_t>(tensor, first, count);
    case i64:
      return numbers<std::int64_t>(tensor, first, count);
    case f16:
      return numbers<Half>(tensor, first, count);
    case bf16:
      return numbers<BFloat16>(tensor, first, count);
    case f32:
      return numbers<float>(tensor, first, count);
    case f64:
      return numbers<double>(tensor, first, count);
  }
  return {};
}

/// Hues of neighbouring numbers are a golden angle apart. 0 is black, as the background is; 255 and
/// negative numbers, by custom nothing to be learned, are gray.
Color color_of_class(float number) {
  if (number == 0) return {0, 0, 0};
  if (number == kIgnored || number < 0) return {128, 128, 128};
  const double hue = std::fmod(number * 0.6180339887498949, 1.0) * 6;
  Color color;
  for (std::size_t c = 0; c < color.size(); ++c) {
    const double distance = std::fabs(std::fmod(hue + 2.0 * static_cast<double>(c), 6.0) - 3);
    color[c] = static_cast<std::uint8_t>(55 + 200 * std::clamp(distance - 1, 0.0, 1.0));
  }
  return color;
}

/// Numbers as levels: those of bytes are levels, others from the least to the largest.
class Levels {
 public:
  Levels(const std::vector<float>& numbers, DType dtype) {
    if (dtype == u8) return;
    bool any = false;
    for (const float number : numbers) {
      if (!std::isfinite(number)) continue;
      least_ = any ? std::min(least_, number) : number;
      most_ = any ? std::max(most_, number) : number;
      any = true;
    }
  }

  std::uint8_t operator()(float number) const {
    if (!std::isfinite(number) || most_ <= least_) return 0;
    return static_cast<std::uint8_t>(std::lround((number - least_) / (most_ - least_) * 255));
  }

 private:
  float least_ = 0;
  float most_ = 255;
};

SheetPicture picture_of(const std::vector<float>& numbers, const Plane& plane, DType dtype) {
  SheetPicture picture{plane.height, plane.width, {}, false};
  if (plane.channels == 1 && !is_floating(dtype))
    picture.of_classes =
        dtype != u8 || std::all_of(numbers.begin(), numbers.end(), [](float number) {
          return number <= kLargestClass || number == kIgnored;
        });
  const Levels level(numbers, dtype);
  for (std::int64_t i = 0; i < plane.pixels(); ++i) {
    const auto at = [&](std::int64_t c) {
      return numbers[static_cast<std::size_t>(i * plane.pixel_step + c * plane.channel_step)];
    };
    const bool gray = plane.channels < 3;
    const Color color = picture.of_classes
                            ? color_of_class(at(0))
                            : Color{level(at(0)), level(at(gray ? 0 : 1)), level(at(gray ? 0 : 2))};
    picture.pixels.insert(picture.pixels.end(), color.begin(), color.end());
  }
  return picture;
}

/// So that it fits: photographs by a filter; classes, and what is enlarged, by the nearest pixel.
SheetPicture scaled(const SheetPicture& in, std::int64_t height, std::int64_t width) {
  SheetPicture out{height, width, {}, in.of_classes};
  out.pixels.resize(static_cast<std::size_t>(height * width * 3));
  if (!in.of_classes && height < in.height) {
    AxisWeights rows;
    AxisWeights columns;
    rows.prepare({in.height, height, 0, height}, true);
    columns.prepare({in.width, width, 0, width}, true);
    Resampler().run({in.pixels.data(), in.width * 3, in.height, in.width}, rows, columns,
                    out.pixels.data(), width * 3);
    return out;
  }
  for (std::int64_t y = 0; y < height; ++y)
    for (std::int64_t x = 0; x < width; ++x) {
      const std::int64_t from = (y * in.height / height * in.width + x * in.width / width) * 3;
      std::copy_n(in.pixels.begin() + from, 3, out.pixels.begin() + (y * width + x) * 3);
    }
  return out;
}

/// The sides of the largest picture of that form in a square; small ones grow by whole factors.
std::array<std::int64_t, 2> sides_in(std::int64_t square, const SheetPicture& picture) {
  const std::int64_t longest = std::max(picture.height, picture.width);
  const std::int64_t factor = square / longest;
  if (factor >= 1) return {picture.height * factor, picture.width * factor};
  const auto shorter = [&](std::int64_t side) {
    return std::max<std::int64_t>(1, (side * square + longest / 2) / longest);
  };
  return {shorter(picture.height), shorter(picture.width)};
}

void draw_box(SheetPicture& picture, const std::array<float, 4>& corners) {
  const auto inside = [](float place, std::int64_t size) {
    const auto most = static_cast<float>(size - 1);
    return static_cast<std::int64_t>(std::isfinite(place) ? std::clamp(place, 0.0f, most) : 0.0f);
  };
  const auto dot = [&](std::int64_t y, std::int64_t x) {
    std::copy(kBoxColor.begin(), kBoxColor.end(),
              picture.pixels.begin() + (y * picture.width + x) * 3);
  };
  const std::int64_t left = inside(corners[0], picture.width);
  const std::int64_t top = inside(corners[1], picture.height);
  const std::int64_t right = inside(corners[2] - 1, picture.width);
  const std::int64_t bottom = inside(corners[3] - 1, picture.height);
  for (std::int64_t x = left; x <= right; ++x) dot(top, x), dot(bottom, x);
  for (std::int64_t y = top; y <= bottom; ++y) dot(y, left), dot(y, right);
}

}  // namespace

std::vector<SheetPicture> pictures_of(const TensorView& tensor) {
  const Shape& shape = tensor.shape();
  if (shape.rank() < 2 || shape.rank() > 4) return {};
  const auto plane = plane_of(shape, std::min(shape.rank(), 3), tensor.dtype());
  if (!plane) return {};
  // Boxes [n, 4] and points [n, 2] are none.
  if (shape.rank() == 2 && is_floating(tensor.dtype()) &&
      std::min(shape[0], shape[1]) < kFloatSideMin)
    return {};
  const std::int64_t count = shape.rank() == 4 ? std::min(shape[0], kPicturesMax) : 1;
  const std::int64_t elements = plane->pixels() * plane->channels;
  std::vector<SheetPicture> all;
  for (std::int64_t i = 0; i < count; ++i)
    all.push_back(picture_of(numbers_of(tensor, i * elements, elements), *plane, tensor.dtype()));
  return all;
}

std::optional<SheetBoxes> boxes_of(const TensorView& tensor) {
  const Shape& shape = tensor.shape();
  if (shape.rank() != 2 || shape[1] != 4 || !is_floating(tensor.dtype())) return std::nullopt;
  return numbers_of(tensor, 0, tensor.elements());
}

void ContactSheet::add(const std::vector<SheetPicture>& pictures, const SheetBoxes& boxes) {
  if (cells_ == 0) columns_ = columns_for(pictures.size());
  for (std::size_t i = 0; i < pictures.size(); ++i, ++cells_)
    if (!pictures[i].pixels.empty()) draw(pictures[i], i == 0 ? boxes : SheetBoxes{});
}

int ContactSheet::columns_for(std::size_t pictures) const {
  const int one = static_cast<int>(pictures);
  return std::max(1, columns_ / one) * one;
}

std::uint64_t ContactSheet::bytes_for(std::uint64_t samples, std::size_t pictures) const {
  const auto columns = static_cast<std::uint64_t>(columns_for(pictures));
  const std::uint64_t rows = (samples * pictures + columns - 1) / columns;
  const std::uint64_t pitch = static_cast<std::uint64_t>(side_ + kGap);
  return (rows * pitch + kGap) * (columns * pitch + kGap) * 3;
}

std::string ContactSheet::next_place() const {
  const auto columns = static_cast<std::size_t>(columns_);
  return concat("row ", cells_ / columns + 1, ", column ", cells_ % columns + 1);
}

std::string ContactSheet::png() const {
  const std::int64_t width = columns_ * (side_ + kGap) + kGap;
  const std::int64_t rows = static_cast<std::int64_t>(pixels_.size()) / (width * 3);
  return encode_png(pixels_, static_cast<std::uint32_t>(rows), static_cast<std::uint32_t>(width),
                    3);
}

void ContactSheet::draw(const SheetPicture& picture, const SheetBoxes& boxes) {
  const auto [height, width] = sides_in(side_, picture);
  SheetPicture small = scaled(picture, height, width);
  const float factor = static_cast<float>(width) / static_cast<float>(picture.width);
  for (std::size_t b = 0; b + 3 < boxes.size(); b += 4)
    draw_box(small, {boxes[b] * factor, boxes[b + 1] * factor, boxes[b + 2] * factor,
                     boxes[b + 3] * factor});
  const std::int64_t pitch = side_ + kGap;
  const std::int64_t row_bytes = (columns_ * pitch + kGap) * 3;
  const auto cell = static_cast<std::int64_t>(cells_);
  const std::int64_t top = cell / columns_ * pitch + kGap + (side_ - height) / 2;
  const std::int64_t left = cell % columns_ * pitch + kGap + (side_ - width) / 2;
  pixels_.resize(static_cast<std::size_t>((cell / columns_ + 1) * pitch + kGap) *
                     static_cast<std::size_t>(row_bytes),
                 kPaper);
  for (std::int64_t y = 0; y < height; ++y)
    std::copy_n(small.pixels.begin() + y * width * 3, width * 3,
                pixels_.begin() + (top + y) * row_bytes + left * 3);
}

}  // namespace brigade
