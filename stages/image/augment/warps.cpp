// Operations that look each pixel of the result up in the picture, by a matrix: rotation, affine
// and perspective. Coordinates, matrices and the treatment of the border are those of torchvision's
// tensors (torchvision/transforms/functional_tensor.py: affine, perspective).

#include "stages/image/augment/warp.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "stages/image/augment/operation.h"
#include "stages/image/geometry/warp_kernels.h"
#include "stages/image/geometry/warp_places.h"

namespace brigade {
namespace {

double radians(double degrees) { return degrees * std::numbers::pi / 180; }

/// `place(y, x)`: where the result's pixel lies in the picture, from pixel centre to pixel centre.
template <class PlaceOf>
void warp_by(Canvas& canvas, const Border& border, const PlaceOf& place) {
  constexpr int kTogether = 256;
  const WarpKernels& kernels = warp_kernels().back();
  const auto run =
      border.interpolation == Interpolation::nearest ? kernels.nearest : kernels.bilinear;
  const PictureSize size = canvas.size();
  const WarpSource source{canvas.pixels(), size, canvas.channels(), border.fill, border.shows};
  std::uint8_t* to = canvas.other(size);
  float rows[kTogether];
  float columns[kTogether];
  for (std::int64_t y = 0; y < size.height; ++y)
    for (std::int64_t x = 0; x < size.width; x += kTogether) {
      // Of 32 bits, several of which the processor turns to floats at once.
      const auto first = static_cast<int>(x);
      const auto count = static_cast<int>(std::min<std::int64_t>(kTogether, size.width - x));
      for (int i = 0; i < count; ++i) {
        const PicturePlace found = place(static_cast<float>(y), static_cast<float>(first + i));
        rows[i] = found.row;
        columns[i] = found.column;
      }
      run(source, rows, columns, count, to);
      to += count * source.channels;
    }
}

}  // namespace

AffineMatrix inverse_affine(const AffineParts& parts) {
  const double angle = radians(parts.degrees);
  const double shear_x = radians(parts.shear_x);
  const double shear_y = radians(parts.shear_y);
  const double a = std::cos(angle - shear_y) / std::cos(shear_y);
  const double b = -a * std::tan(shear_x) - std::sin(angle);
  const double c = std::sin(angle - shear_y) / std::cos(shear_y);
  const double d = -c * std::tan(shear_x) + std::cos(angle);
  AffineMatrix matrix{d / parts.scale, -b / parts.scale, 0, -c / parts.scale, a / parts.scale, 0};
  const double x = parts.center_x + parts.translate_x;
  const double y = parts.center_y + parts.translate_y;
  matrix[2] = parts.center_x - matrix[0] * x - matrix[1] * y;
  matrix[5] = parts.center_y - matrix[3] * x - matrix[4] * y;
  return matrix;
}

void warp_affine(Canvas& canvas, const AffineMatrix& matrix, const Border& border) {
  canvas.note({.kind = PictureMove::Kind::affine, .to = canvas.size(), .affine = matrix});
  warp_by(canvas, border, AffinePlaces(matrix, canvas.size()));
}

Perspective perspective_between(const Corners& from, const Corners& to) {
  // Eight equations in eight unknowns, solved by elimination with row exchange.
  std::array<std::array<double, 9>, 8> rows{};
  for (std::size_t i = 0; i < 4; ++i) {
    const auto [x, y] = to[i];
    const auto [u, v] = from[i];
    rows[2 * i] = {x, y, 1, 0, 0, 0, -u * x, -u * y, u};
    rows[2 * i + 1] = {0, 0, 0, x, y, 1, -v * x, -v * y, v};
  }
  for (std::size_t k = 0; k < 8; ++k) {
    const auto pivot = std::max_element(
        rows.begin() + static_cast<std::ptrdiff_t>(k), rows.end(),
        [k](const auto& a, const auto& b) { return std::abs(a[k]) < std::abs(b[k]); });
    std::swap(rows[k], *pivot);
    for (std::size_t row = 0; row < 8; ++row) {
      if (row == k) continue;
      const double factor = rows[row][k] / rows[k][k];
      for (std::size_t column = k; column < 9; ++column)
        rows[row][column] -= factor * rows[k][column];
    }
  }
  Perspective out{};
  for (std::size_t k = 0; k < 8; ++k) out[k] = rows[k][8] / rows[k][k];
  return out;
}

void warp_perspective(Canvas& canvas, const Perspective& coefficients, const Border& border) {
  canvas.note(
      {.kind = PictureMove::Kind::perspective, .to = canvas.size(), .perspective = coefficients});
  warp_by(canvas, border, PerspectivePlaces(coefficients));
}

namespace {

class RandomRotation : public Operation {
 public:
  struct Params : BorderParams {
    NumberOrRange degrees;
    Result<void> check() const { return degrees.check("degrees"); }
  };
  explicit RandomRotation(const Params& params)
      : border_(params.border()), degrees_(params.degrees.around(0, -kDegreesMax)) {}
  bool draws() const override { return !degrees_.is_one(); }
  void run(Canvas& canvas, Philox& random) override {
    // Counter-clockwise, as torchvision's rotate; its affine turns the other way.
    warp_affine(canvas, inverse_affine({.degrees = -degrees_.draw(random)}), border_);
  }

 private:
  static constexpr double kDegreesMax = 1e6;
  Border border_;
  NumberOrRange degrees_;
};

class RandomAffine : public Operation {
 public:
  struct Params : BorderParams {
    NumberOrRange degrees;
    std::vector<double> translate = {0, 0};
    std::vector<double> scale = {1, 1};
    NumberOrRange shear;
    Result<void> check() const {
      if (translate.size() != 2)
        return Error{
            "expected translate as the largest shares of width and height, such as [0.1, 0.1]"};
      if (scale.size() != 2 || scale[0] > scale[1])
        return Error{"expected a lower and an upper limit for scale, such as [0.8, 1.2]"};
      BRIGADE_TRY(degrees.check("degrees"));
      return shear.check("shear");
    }
  };
  explicit RandomAffine(const Params& params)
      : params_(params),
        degrees_(params.degrees.around(0, -kDegreesMax)),
        shear_(params.shear.around(0, -kDegreesMax)) {}
  bool draws() const override {
    return !degrees_.is_one() || params_.translate[0] > 0 || params_.translate[1] > 0 ||
           params_.scale[0] < params_.scale[1] || !shear_.is_one();
  }
  void run(Canvas& canvas, Philox& random) override {
    AffineParts parts{.degrees = degrees_.draw(random)};
    parts.translate_x = shift(params_.translate[0], canvas.size().width, random);
    parts.translate_y = shift(params_.translate[1], canvas.size().height, random);
    parts.scale = NumberOrRange{params_.scale[0], params_.scale[1], true}.draw(random);
    parts.shear_x = shear_.draw(random);
    warp_affine(canvas, inverse_affine(parts), params_.border());
  }

 private:
  static constexpr double kDegreesMax = 1e6;
  static double shift(double share, std::int64_t side, Philox& random) {
    if (share <= 0) return 0;
    const double most = share * static_cast<double>(side);
    return std::nearbyint(random.uniform(-most, most));
  }
  Params params_;
  NumberOrRange degrees_;
  NumberOrRange shear_;
};

class RandomPerspective : public Operation {
 public:
  struct Params : BorderParams {
    double distortion_scale = 0.5;
    double p = 0.5;
  };
  explicit RandomPerspective(const Params& params) : params_(params) {}
  bool draws() const override { return params_.p > 0; }
  void run(Canvas& canvas, Philox& random) override {
    if (!happens(random, params_.p)) return;
    const auto [height, width] = canvas.size();
    const auto far_x =
        static_cast<std::int64_t>(params_.distortion_scale * static_cast<double>(width / 2));
    const auto far_y =
        static_cast<std::int64_t>(params_.distortion_scale * static_cast<double>(height / 2));
    const auto near = [&random](std::int64_t far) {
      return static_cast<double>(random.below(static_cast<std::uint64_t>(far + 1)));
    };
    const auto right = static_cast<double>(width - 1);
    const auto bottom = static_cast<double>(height - 1);
    const Corners corners = {{{0, 0}, {right, 0}, {right, bottom}, {0, bottom}}};
    Corners moved = corners;
    for (std::size_t i = 0; i < 4; ++i) {
      const double x = near(far_x);
      const double y = near(far_y);
      moved[i].x += corners[i].x > 0 ? -x : x;
      moved[i].y += corners[i].y > 0 ? -y : y;
    }
    // Corners that meet, of tiny pictures, leave nothing to look up.
    const Perspective coefficients = perspective_between(corners, moved);
    if (std::all_of(coefficients.begin(), coefficients.end(),
                    [](double value) { return std::isfinite(value); }))
      warp_perspective(canvas, coefficients, params_.border());
  }

 private:
  Params params_;
};

}  // namespace

void add_warps(std::vector<OperationType>& types) {
  types.push_back(operation<RandomRotation>(with_border(
      Contract<RandomRotation::Params>("random_rotation", "Rotates about the middle.")
          .param(
              "degrees", &RandomRotation::Params::degrees, -360, 360,
              "limits of the angle in degrees, counter-clockwise; a single number d means -d to d")
          .required())));
  types.push_back(operation<RandomAffine>(with_border(
      Contract<RandomAffine::Params>("random_affine",
                                     "Rotates, shifts, scales and shears about the middle.")
          .param("degrees", &RandomAffine::Params::degrees, -360, 360,
                 "limits of the angle in degrees, clockwise; a single number d means -d to d")
          .required()
          .param("translate", &RandomAffine::Params::translate, 0, 1,
                 "largest shift, as shares of [width, height]")
          .param("scale", &RandomAffine::Params::scale, 0.001, 1000, "limits of the factor")
          .param("shear", &RandomAffine::Params::shear, -89, 89,
                 "limits of the horizontal shear in degrees; a single number d means -d to d"))));
  types.push_back(operation<RandomPerspective>(with_border(
      Contract<RandomPerspective::Params>("random_perspective", "Moves the corners inward.")
          .param("distortion_scale", &RandomPerspective::Params::distortion_scale, 0, 1,
                 "largest shift of a corner, as a share of half the image")
          .param("p", &RandomPerspective::Params::p, 0, 1, "probability"))));
}

}  // namespace brigade
