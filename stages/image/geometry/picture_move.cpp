#include "stages/image/geometry/picture_move.h"

#include <algorithm>
#include <cmath>

namespace brigade {
namespace {

/// The solution of a x + b y = c, d x + e y = f.
std::optional<PicturePoint> solve(double a, double b, double c, double d, double e, double f) {
  const double determinant = a * e - b * d;
  const PicturePoint point{(c * e - b * f) / determinant, (a * f - c * d) / determinant};
  if (!std::isfinite(point.x) || !std::isfinite(point.y)) return std::nullopt;
  return point;
}

std::optional<PicturePoint> forward_affine(const PictureMove& move, PicturePoint place) {
  const AffineMatrix& m = move.affine;
  const double middle_x = static_cast<double>(move.from.width) / 2;
  const double middle_y = static_cast<double>(move.from.height) / 2;
  auto found = solve(m[0], m[1], place.x - middle_x - m[2], m[3], m[4], place.y - middle_y - m[5]);
  if (found) *found = {found->x + middle_x, found->y + middle_y};
  return found;
}

std::optional<PicturePoint> forward_perspective(const PictureMove& move, PicturePoint place) {
  const Perspective& m = move.perspective;
  const auto [x, y] = place;
  auto found =
      solve(m[0] - m[6] * x, m[1] - m[7] * x, x - m[2], m[3] - m[6] * y, m[4] - m[7] * y, y - m[5]);
  if (found && m[6] * found->x + m[7] * found->y + 1 <= 0) return std::nullopt;
  return found;
}

PlaceMatrix shift(double x, double y) { return {1, 0, x, 0, 1, y, 0, 0, 1}; }

/// By the cofactors; every move has one.
PlaceMatrix inverse(const PlaceMatrix& m) {
  const PlaceMatrix cofactors = {
      m[4] * m[8] - m[5] * m[7], m[2] * m[7] - m[1] * m[8], m[1] * m[5] - m[2] * m[4],
      m[5] * m[6] - m[3] * m[8], m[0] * m[8] - m[2] * m[6], m[2] * m[3] - m[0] * m[5],
      m[3] * m[7] - m[4] * m[6], m[1] * m[6] - m[0] * m[7], m[0] * m[4] - m[1] * m[3]};
  const double determinant = m[0] * cofactors[0] + m[1] * cofactors[3] + m[2] * cofactors[6];
  PlaceMatrix out;
  std::transform(cofactors.begin(), cofactors.end(), out.begin(),
                 [&](double number) { return number / determinant; });
  return out;
}

/// Of the result's places to the picture's.
PlaceMatrix backward_affine(const PictureMove& move) {
  const AffineMatrix& m = move.affine;
  const double middle_x = static_cast<double>(move.from.width) / 2;
  const double middle_y = static_cast<double>(move.from.height) / 2;
  const PlaceMatrix about_middle = {m[0], m[1], m[2], m[3], m[4], m[5], 0, 0, 1};
  return chained(chained(shift(-middle_x, -middle_y), about_middle), shift(middle_x, middle_y));
}

}  // namespace

PlaceMatrix chained(const PlaceMatrix& first, const PlaceMatrix& second) {
  PlaceMatrix out{};
  for (std::size_t row = 0; row < 3; ++row)
    for (std::size_t column = 0; column < 3; ++column)
      for (std::size_t k = 0; k < 3; ++k)
        out[row * 3 + column] += second[row * 3 + k] * first[k * 3 + column];
  return out;
}

PlaceMatrix PictureMove::matrix() const {
  const auto share = [](std::int64_t a, std::int64_t b) {
    return static_cast<double>(a) / static_cast<double>(b);
  };
  switch (kind) {
    case Kind::window: {
      const double wider = share(to.width, window.width);
      const double higher = share(to.height, window.height);
      return {wider, 0,      -static_cast<double>(x) * wider,
              0,     higher, -static_cast<double>(y) * higher,
              0,     0,      1};
    }
    case Kind::flip_columns:
      return {-1, 0, static_cast<double>(from.width), 0, 1, 0, 0, 0, 1};
    case Kind::flip_rows:
      return {1, 0, 0, 0, -1, static_cast<double>(from.height), 0, 0, 1};
    case Kind::affine:
      return inverse(backward_affine(*this));
    case Kind::perspective: {
      const Perspective& m = perspective;
      return inverse({m[0], m[1], m[2], m[3], m[4], m[5], m[6], m[7], 1});
    }
  }
  return kSamePlaces;
}

PlaceMatrix matrix_of(std::span<const PictureMove> moves) {
  PlaceMatrix all = kSamePlaces;
  for (const PictureMove& move : moves) all = chained(all, move.matrix());
  return all;
}

void write_matrix(const PlaceMatrix& matrix, std::span<float> out) {
  double largest = 0;
  for (const double number : matrix) largest = std::max(largest, std::abs(number));
  const double last = std::abs(matrix[8]) > 1e-9 * largest ? matrix[8] : 1;
  std::transform(matrix.begin(), matrix.end(), out.begin(),
                 [&](double number) { return static_cast<float>(number / last); });
}

std::optional<PicturePoint> PictureMove::forward(PicturePoint place) const {
  const auto share = [](std::int64_t a, std::int64_t b) {
    return static_cast<double>(a) / static_cast<double>(b);
  };
  switch (kind) {
    case Kind::window:
      return PicturePoint{(place.x - static_cast<double>(x)) * share(to.width, window.width),
                          (place.y - static_cast<double>(y)) * share(to.height, window.height)};
    case Kind::flip_columns:
      return PicturePoint{static_cast<double>(from.width) - place.x, place.y};
    case Kind::flip_rows:
      return PicturePoint{place.x, static_cast<double>(from.height) - place.y};
    case Kind::affine:
      return forward_affine(*this, place);
    case Kind::perspective:
      return forward_perspective(*this, place);
  }
  return std::nullopt;
}

}  // namespace brigade
