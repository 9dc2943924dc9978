#pragma once

// The change of an image's geometry by an operation of `augment`, as a value: the image's
// targets (its mask, boxes, keypoints) follow it afterwards. Places are in pixels from
// the left and the top edge: the middle of the first pixel is (0.5, 0.5). Pure functions.

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <optional>
#include <span>

#include <brigade/export.h>

namespace brigade {

/// In pixels.
struct PictureSize {
  std::int64_t height = 0;
  std::int64_t width = 0;

  std::int64_t pixels() const { return height * width; }
  friend bool operator==(const PictureSize&, const PictureSize&) = default;
};

/// From the result's (x, y) to the picture's, both from the middle: [x of x, y, 1; y of x, y, 1].
using AffineMatrix = std::array<double, 6>;
/// a .. h of x' = (a x + b y + c) / (g x + h y + 1), y' = (d x + e y + f) / (g x + h y + 1), from
/// the result's places to the picture's.
using Perspective = std::array<double, 8>;

struct PicturePoint {
  double x = 0;
  double y = 0;
};

/// Rows first: (x, y) becomes (u / w, v / w) with [u, v, w] = matrix [x, y, 1].
using PlaceMatrix = std::array<double, 9>;
inline constexpr PlaceMatrix kSamePlaces = {1, 0, 0, 0, 1, 0, 0, 0, 1};

/// What `second` makes of what `first` makes.
BRIGADE_API PlaceMatrix chained(const PlaceMatrix& first, const PlaceMatrix& second);

struct PictureMove {
  enum class Kind : std::uint8_t { window, flip_columns, flip_rows, affine, perspective, field };

  Kind kind = Kind::window;
  PictureSize from = {};  ///< size of the picture before
  PictureSize to = {};    ///< and after
  // Of a window, which is then resized to `to`; it may reach beyond the picture.
  std::int64_t y = 0;
  std::int64_t x = 0;
  PictureSize window = {};
  AffineMatrix affine{};
  Perspective perspective{};
  // Of a field: where each pixel of the result lies in the picture, from pixel centre to pixel
  // centre. Who notes the move down keeps them until the sample is written.
  std::span<const float> columns = {};
  std::span<const float> rows = {};

  /// Where a place of the picture lies in the result; nothing: nowhere (behind the horizon).
  std::optional<PicturePoint> forward(PicturePoint place) const;
  /// The same as a matrix, which knows no horizon. A field has none.
  PlaceMatrix matrix() const;
};

/// Where places of the picture before the moves lie behind them.
BRIGADE_API PlaceMatrix matrix_of(std::span<const PictureMove> moves);
/// As a tensor's numbers; the last is 1 unless that is far from all others.
BRIGADE_API void write_matrix(const PlaceMatrix& matrix, std::span<float> out);

/// Which of `in` pixels is pixel `i` of `out`: as torch's interpolate(mode="nearest") has it, in
/// float.
inline std::int64_t nearest_index(std::int64_t i, std::int64_t in, std::int64_t out) {
  if (in == out) return i;
  const float scale = static_cast<float>(in) / static_cast<float>(out);
  return std::min(static_cast<std::int64_t>(std::floor(static_cast<float>(i) * scale)), in - 1);
}

}  // namespace brigade
