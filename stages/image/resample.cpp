#include "stages/image/resample.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "base/check.h"

namespace brigade {
namespace {

constexpr std::int64_t kChannels = 3;
constexpr int kBits = AxisWeights::kBits;
constexpr double kOne = 1 << kBits;
constexpr int kRowBits = 7;  // of the row in between, below the point: 8 + 7 bits fit an int16
constexpr std::int64_t kBlock = 64;

/// Adds up a block of columns. `size` is kBlock, as a constant, for all blocks but the last.
inline void add_block(const std::vector<const std::uint8_t*>& rows, const std::int16_t* weights,
                      std::int64_t at, std::int64_t size, std::int16_t* out) {
  std::int32_t sums[kBlock];
  for (std::int64_t i = 0; i < size; ++i) sums[i] = 1 << (kBits - kRowBits - 1);
  for (std::size_t tap = 0; tap < rows.size(); ++tap) {
    const std::uint8_t* const row = rows[tap] + at;
    const std::int32_t weight = weights[tap];
    for (std::int64_t i = 0; i < size; ++i) sums[i] += weight * row[i];
  }
  for (std::int64_t i = 0; i < size; ++i)
    out[at + i] = static_cast<std::int16_t>(sums[i] >> (kBits - kRowBits));
}

void add_rows(const std::vector<const std::uint8_t*>& rows, const std::int16_t* weights,
              std::int64_t bytes, std::int16_t* out) {
  std::int64_t at = 0;
  for (; at + kBlock <= bytes; at += kBlock) add_block(rows, weights, at, kBlock, out);
  if (at < bytes) add_block(rows, weights, at, bytes - at, out);
}

void add_columns(const std::int16_t* row, const AxisWeights& columns, std::uint8_t* out) {
  constexpr int kShift = kBits + kRowBits;
  const std::int64_t taps = columns.taps();
  for (std::int64_t x = 0; x < columns.count(); ++x, out += kChannels) {
    const std::int16_t* const weights = columns.weights(x).data();
    const std::int16_t* pixel = row + columns.first(x) * kChannels;
    std::int32_t red = 1 << (kShift - 1), green = red, blue = red;
    for (std::int64_t tap = 0; tap < taps; ++tap, pixel += kChannels) {
      red += weights[tap] * pixel[0];
      green += weights[tap] * pixel[1];
      blue += weights[tap] * pixel[2];
    }
    out[0] = static_cast<std::uint8_t>(red >> kShift);
    out[1] = static_cast<std::uint8_t>(green >> kShift);
    out[2] = static_cast<std::uint8_t>(blue >> kShift);
  }
}

void copy_pixels(const std::uint8_t* row, const AxisWeights& columns, std::uint8_t* out) {
  const std::int64_t count = columns.count();
  const std::int64_t first = columns.first(0);
  if (count == 1 || columns.first(1) > first) {
    std::memcpy(out, row + first * kChannels, static_cast<std::size_t>(count * kChannels));
    return;
  }
  for (std::int64_t x = 0; x < count; ++x)
    std::memcpy(out + x * kChannels, row + columns.first(x) * kChannels, kChannels);
}

}  // namespace

void AxisWeights::prepare(const AxisResize& resize, bool antialias) {
  BRIGADE_CHECK(resize.in > 0 && resize.resized > 0 && resize.count > 0, resize.in, resize.resized);
  const double scale = static_cast<double>(resize.in) / static_cast<double>(resize.resized);
  const double width = antialias ? std::max(scale, 1.0) : 1.0;
  copies_ = resize.in == resize.resized;
  taps_ = copies_ ? 1
                  : std::min<std::int64_t>(2 * static_cast<std::int64_t>(std::ceil(width)) + 1,
                                           resize.in);
  firsts_.resize(static_cast<std::size_t>(resize.count));
  weights_.resize(static_cast<std::size_t>(resize.count * taps_));
  for (std::int64_t i = 0; i < resize.count; ++i) {
    const double center = (static_cast<double>(resize.first + i) + 0.5) * scale;
    set_weights(i, resize.in, center, width);
  }
  first_needed_ = *std::min_element(firsts_.begin(), firsts_.end());
  end_needed_ = *std::max_element(firsts_.begin(), firsts_.end()) + taps_;
  for (std::int64_t& first : firsts_) first -= first_needed_;
}

void AxisWeights::set_weights(std::int64_t i, std::int64_t in, double center, double width) {
  const auto begin = std::max<std::int64_t>(static_cast<std::int64_t>(center - width + 0.5), 0);
  const auto end = std::min<std::int64_t>(static_cast<std::int64_t>(center + width + 0.5), in);
  // All pixels have as many taps, those beyond the triangle with weight 0; none beyond the input.
  const std::int64_t first =
      copies_ ? static_cast<std::int64_t>(center) : std::min(begin, in - taps_);
  firsts_[static_cast<std::size_t>(i)] = first;
  std::int16_t* const weights = weights_.data() + i * taps_;
  if (copies_) {
    weights[0] = 1 << kBits;
    return;
  }
  exact_.assign(static_cast<std::size_t>(taps_), 0);
  double sum = 0;
  for (std::int64_t x = begin; x < std::min(end, first + taps_); ++x) {
    const double distance = std::abs(static_cast<double>(x) + 0.5 - center) / width;
    sum += exact_[static_cast<std::size_t>(x - first)] = std::max(0.0, 1 - distance);
  }
  // Rounding the running sums makes the weights add up to one however many there are.
  double running = 0;
  std::int32_t before = 0;
  for (std::int64_t tap = 0; tap < taps_; ++tap) {
    running += exact_[static_cast<std::size_t>(tap)];
    const auto now = static_cast<std::int32_t>(std::lround(running / sum * kOne));
    weights[tap] = static_cast<std::int16_t>(now - before);
    before = now;
  }
}

void AxisWeights::mirror() {
  std::reverse(firsts_.begin(), firsts_.end());
  for (std::int64_t a = 0, b = count() - 1; a < b; ++a, --b)
    std::swap_ranges(weights_.begin() + a * taps_, weights_.begin() + (a + 1) * taps_,
                     weights_.begin() + b * taps_);
}

void Resampler::run(const Pixels& in, const AxisWeights& rows, const AxisWeights& columns,
                    std::uint8_t* out, std::int64_t out_stride) {
  BRIGADE_CHECK(in.height == rows.end_needed() - rows.first_needed(), in.height);
  BRIGADE_CHECK(in.width == columns.end_needed() - columns.first_needed(), in.width);
  const std::int64_t bytes = in.width * kChannels;
  if (row_.size() < static_cast<std::size_t>(bytes)) row_.resize(static_cast<std::size_t>(bytes));
  sources_.resize(static_cast<std::size_t>(rows.taps()));
  for (std::int64_t y = 0; y < rows.count(); ++y, out += out_stride) {
    const std::uint8_t* const first = in.data + rows.first(y) * in.stride;
    if (rows.copies() && columns.copies()) {
      copy_pixels(first, columns, out);
      continue;
    }
    for (std::size_t tap = 0; tap < sources_.size(); ++tap)
      sources_[tap] = first + static_cast<std::int64_t>(tap) * in.stride;
    add_rows(sources_, rows.weights(y).data(), bytes, row_.data());
    add_columns(row_.data(), columns, out);
  }
}

}  // namespace brigade
