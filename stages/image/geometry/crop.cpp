#include "stages/image/geometry/crop.h"

#include <algorithm>
#include <cmath>

namespace brigade {
namespace {

constexpr int kTries = 10;

/// Rounds to even, as Python does.
std::int64_t round_even(double value) { return static_cast<std::int64_t>(std::nearbyint(value)); }

AxisCut whole(std::int64_t size, std::int64_t resized) {
  return {0, size, resized, 0, resized, 0, resized};
}

AxisCut part(std::int64_t begin, std::int64_t size, std::int64_t out) {
  return {begin, size, out, 0, out, 0, out};
}

std::int64_t draw(Philox& random, std::int64_t choices) {
  return static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(choices)));
}

Cut largest_centered(const DecodeImageParams& params, std::int64_t height, std::int64_t width) {
  const double ratio = static_cast<double>(width) / static_cast<double>(height);
  std::int64_t h = height, w = width;
  if (ratio < params.ratio[0]) h = round_even(static_cast<double>(w) / params.ratio[0]);
  if (ratio > params.ratio[1]) w = round_even(static_cast<double>(h) * params.ratio[1]);
  h = std::clamp<std::int64_t>(h, 1, height);
  w = std::clamp<std::int64_t>(w, 1, width);
  return {part((height - h) / 2, h, params.size), part((width - w) / 2, w, params.size), false};
}

Cut random_resized(const DecodeImageParams& params, std::int64_t height, std::int64_t width,
                   Philox& random) {
  const double area = static_cast<double>(height) * static_cast<double>(width);
  const double low = std::log(params.ratio[0]);
  const double high = std::log(params.ratio[1]);
  for (int i = 0; i < kTries; ++i) {
    const double target = area * random.uniform(params.scale[0], params.scale[1]);
    const double ratio = std::exp(random.uniform(low, high));
    const std::int64_t w = round_even(std::sqrt(target * ratio));
    const std::int64_t h = round_even(std::sqrt(target / ratio));
    if (w <= 0 || w > width || h <= 0 || h > height) continue;
    const std::int64_t y = draw(random, height - h + 1);
    const std::int64_t x = draw(random, width - w + 1);
    return {part(y, h, params.size), part(x, w, params.size), false};
  }
  return largest_centered(params, height, width);
}

/// The middle `out` pixels of an axis of `resized` ones, zeros around it where it is shorter.
AxisCut middle(std::int64_t size, std::int64_t resized, std::int64_t out) {
  if (resized <= out) return {0, size, resized, 0, resized, (out - resized) / 2, out};
  return {0, size, resized, round_even(static_cast<double>(resized - out) / 2), out, 0, out};
}

/// Both sides for a shorter side of `shorter` pixels; 0: they stay. Rounds down, as torchvision.
void resize_sides(std::int64_t shorter, std::int64_t& height, std::int64_t& width) {
  if (shorter == 0) return;
  std::int64_t& longer_side = height <= width ? width : height;
  std::int64_t& shorter_side = height <= width ? height : width;
  longer_side = longer_side * shorter / shorter_side;
  shorter_side = shorter;
}

}  // namespace

Cut choose_cut(const DecodeImageParams& params, std::int64_t height, std::int64_t width,
               Philox& random) {
  std::int64_t new_height = height, new_width = width;
  Cut cut;
  switch (params.crop) {
    case DecodeImageParams::Crop::random_resized:
      cut = random_resized(params, height, width, random);
      break;
    case DecodeImageParams::Crop::center:
      resize_sides(params.resize, new_height, new_width);
      cut = {middle(height, new_height, params.size), middle(width, new_width, params.size), false};
      break;
    case DecodeImageParams::Crop::none:
      resize_sides(params.resize, new_height, new_width);
      if (params.size > 0) new_height = new_width = params.size;
      cut = {whole(height, new_height), whole(width, new_width), false};
      break;
  }
  cut.flip = params.flip >= 1 || (params.flip > 0 && random.chance(params.flip));
  return cut;
}

AxisRead read_of(const AxisCut& cut, std::int64_t side, int reduction, bool reversed) {
  if (reduction == 1) return {cut.begin, cut.resize()};
  const auto shrunk = [&](std::int64_t pixels) { return static_cast<double>(pixels) / reduction; };
  const std::int64_t end = shrunk_side(side, reduction);
  const double lead = reversed ? static_cast<double>(end) - shrunk(side) : 0;
  const double from = lead + shrunk(cut.begin);
  const double length = shrunk(cut.size);
  const auto first = static_cast<std::int64_t>(from);
  const auto behind = std::min(static_cast<std::int64_t>(std::ceil(from + length)), end);
  return {first,
          {behind - first, cut.resized, cut.first, cut.count, from - static_cast<double>(first),
           length}};
}

PlaceMatrix matrix_of(const Cut& cut) {
  const auto factor = [](const AxisCut& axis) {
    return static_cast<double>(axis.resized) / static_cast<double>(axis.size);
  };
  const auto offset = [&](const AxisCut& axis) {
    return static_cast<double>(axis.pad - axis.first) -
           static_cast<double>(axis.begin) * factor(axis);
  };
  const double x = factor(cut.columns);
  const double y = factor(cut.rows);
  const double left = offset(cut.columns);
  const double top = offset(cut.rows);
  const auto width = static_cast<double>(cut.columns.out);
  if (cut.flip) return {-x, 0, width - left, 0, y, top, 0, 0, 1};
  return {x, 0, left, 0, y, top, 0, 0, 1};
}

std::vector<PictureMove> moves_of(const Cut& cut, PictureSize image) {
  const AxisCut& rows = cut.rows;
  const AxisCut& columns = cut.columns;
  const PictureSize resized{rows.resized, columns.resized};
  const PictureSize out{rows.out, columns.out};
  std::vector<PictureMove> moves;
  moves.push_back({.from = image,
                   .to = resized,
                   .y = rows.begin,
                   .x = columns.begin,
                   .window = {rows.size, columns.size}});
  moves.push_back({.from = resized,
                   .to = out,
                   .y = rows.first - rows.pad,
                   .x = columns.first - columns.pad,
                   .window = out});
  if (cut.flip) moves.push_back({.kind = PictureMove::Kind::flip_columns, .from = out, .to = out});
  return moves;
}

}  // namespace brigade
