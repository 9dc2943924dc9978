#include "stages/image/geometry/cubic.h"

#include <algorithm>
#include <cmath>

namespace brigade {
namespace {

constexpr double kSharp = -0.75;
constexpr double kWide = -0.5;
constexpr std::int64_t kLanes = 4;

double cubic(double x, double a) {
  x = std::abs(x);
  if (x < 1) return ((a + 2) * x - (a + 3)) * x * x + 1;
  if (x < 2) return ((x - 5) * x + 8) * x * a - 4 * a;
  return 0;
}

}  // namespace

void CubicResizer::Axis::prepare(std::int64_t in, std::int64_t out, bool antialias) {
  const double scale = static_cast<double>(in) / static_cast<double>(out);
  const double width = antialias ? std::max(scale, 1.0) : 1.0;
  const double a = antialias ? kWide : kSharp;
  taps = std::min(static_cast<std::int64_t>(std::ceil(4 * width)) + 1, in);
  firsts.resize(static_cast<std::size_t>(out));
  weights.assign(static_cast<std::size_t>(out * taps), 0);
  for (std::int64_t i = 0; i < out; ++i) {
    const double center = (static_cast<double>(i) + 0.5) * scale;
    const auto begin = static_cast<std::int64_t>(std::floor(center - 2 * width + 0.5));
    const auto end = static_cast<std::int64_t>(std::floor(center + 2 * width + 0.5));
    const std::int64_t first = std::clamp<std::int64_t>(begin, 0, in - taps);
    float* const at = weights.data() + i * taps;
    double sum = 0;
    for (std::int64_t x = begin; x < end; ++x) {
      if (antialias && (x < 0 || x >= in)) continue;
      const double weight = cubic((static_cast<double>(x) + 0.5 - center) / width, a);
      at[std::clamp<std::int64_t>(x, 0, in - 1) - first] += static_cast<float>(weight);
      sum += weight;
    }
    for (std::int64_t tap = 0; tap < taps; ++tap) at[tap] /= static_cast<float>(sum);
    firsts[static_cast<std::size_t>(i)] = first;
  }
}

void CubicResizer::run(const CubicPixels& in, std::int64_t height, std::int64_t width,
                       bool antialias, std::uint8_t* out) {
  rows_.prepare(in.height, height, antialias);
  columns_.prepare(in.width, width, antialias);
  row_.resize(static_cast<std::size_t>(in.width * in.channels + kLanes));
  for (std::int64_t y = 0; y < height; ++y, out += width * in.channels) {
    add_rows(in, y);
    add_columns(in.channels, out);
  }
}

void CubicResizer::add_rows(const CubicPixels& in, std::int64_t y) {
  const float* const weights = rows_.weights.data() + y * rows_.taps;
  const std::uint8_t* from = in.data + rows_.firsts[static_cast<std::size_t>(y)] * in.stride;
  float* const to = row_.data();
  const std::int64_t numbers = in.width * in.channels;
  std::fill(row_.begin(), row_.end(), 0.0F);
  for (std::int64_t tap = 0; tap < rows_.taps; ++tap, from += in.stride) {
    const float weight = weights[tap];
    if (weight == 0) continue;
    for (std::int64_t i = 0; i < numbers; ++i) to[i] += weight * static_cast<float>(from[i]);
  }
}

void CubicResizer::add_columns(std::int64_t channels, std::uint8_t* out) const {
  // Four numbers at once, of which the last belong to the next pixel and are left out.
  const float* weights = columns_.weights.data();
  for (const std::int64_t first : columns_.firsts) {
    for (std::int64_t four = 0; four < channels; four += kLanes) {
      const float* from = row_.data() + first * channels + four;
      float sums[kLanes] = {};
      for (std::int64_t tap = 0; tap < columns_.taps; ++tap, from += channels)
        for (std::int64_t lane = 0; lane < kLanes; ++lane) sums[lane] += weights[tap] * from[lane];
      for (std::int64_t c = 0; c < std::min(channels - four, kLanes); ++c)
        *out++ = static_cast<std::uint8_t>(std::clamp(sums[c], 0.0F, 255.0F) + 0.5F);
    }
    weights += columns_.taps;
  }
}

}  // namespace brigade
