#include "stages/image/geometry/picture_move.h"

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

}  // namespace

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
