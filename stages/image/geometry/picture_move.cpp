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

/// Of a field, as a function of places; beyond the edges it is as far off as at the edge.
class FieldPlaces {
 public:
  explicit FieldPlaces(const PictureMove& move) : move_(move) {}

  /// Where the result's place lies in the picture: between four pixels by their distances.
  PicturePoint operator()(PicturePoint place) const {
    const double right = static_cast<double>(move_.to.width - 1);
    const double bottom = static_cast<double>(move_.to.height - 1);
    const double x = std::clamp(place.x - 0.5, 0.0, right);
    const double y = std::clamp(place.y - 0.5, 0.0, bottom);
    const auto left = static_cast<std::int64_t>(x);
    const auto top = static_cast<std::int64_t>(y);
    const double across = x - static_cast<double>(left);
    const double down = y - static_cast<double>(top);
    const auto mixed = [&](std::span<const float> numbers) {
      const auto at = [&](std::int64_t row, std::int64_t column) {
        const std::int64_t index = std::min(row, move_.to.height - 1) * move_.to.width +
                                   std::min(column, move_.to.width - 1);
        return static_cast<double>(numbers[static_cast<std::size_t>(index)]);
      };
      return (at(top, left) * (1 - across) + at(top, left + 1) * across) * (1 - down) +
             (at(top + 1, left) * (1 - across) + at(top + 1, left + 1) * across) * down;
    };
    return {mixed(move_.columns) + place.x - x, mixed(move_.rows) + place.y - y};
  }

  /// The pixel of the result whose place in the picture is nearest; nothing: none is within a
  /// pixel.
  std::optional<PicturePoint> nearest(PicturePoint wanted) const {
    double least = 1;
    std::optional<PicturePoint> found;
    for (std::int64_t row = 0; row < move_.to.height; ++row)
      for (std::int64_t column = 0; column < move_.to.width; ++column) {
        const auto at = static_cast<std::size_t>(row * move_.to.width + column);
        const double x = move_.columns[at] + 0.5 - wanted.x;
        const double y = move_.rows[at] + 0.5 - wanted.y;
        if (x * x + y * y >= least) continue;
        least = x * x + y * y;
        found = PicturePoint{static_cast<double>(column) + 0.5, static_cast<double>(row) + 0.5};
      }
    return found;
  }

 private:
  const PictureMove& move_;
};

/// By steps of what is missing, which meet where neighbours stay neighbours; otherwise (a fold) by
/// looking at every pixel.
std::optional<PicturePoint> forward_field(const PictureMove& move, PicturePoint wanted) {
  constexpr int kStepsMax = 100;
  constexpr double kNear = 1e-3;  // pixels
  const FieldPlaces places(move);
  PicturePoint at = wanted;
  for (int step = 0; step < kStepsMax; ++step) {
    const PicturePoint there = places(at);
    const PicturePoint missing{wanted.x - there.x, wanted.y - there.y};
    if (std::abs(missing.x) < kNear && std::abs(missing.y) < kNear) return at;
    at = {at.x + missing.x, at.y + missing.y};
    if (!std::isfinite(at.x) || !std::isfinite(at.y)) break;
  }
  return places.nearest(wanted);
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
    case Kind::field:
      break;
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
    case Kind::field:
      return forward_field(*this, place);
  }
  return std::nullopt;
}

}  // namespace brigade
