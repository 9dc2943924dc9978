#include "stages/image/geometry/resample.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include <brigade/check.h>
#include "stages/image/decode_image_contract.h"

namespace brigade {
namespace {

constexpr std::int64_t kColors = 3;
constexpr int kBits = AxisWeights::kBits;
constexpr double kOne = 1 << kBits;
constexpr int kShift = kBits + ResampleKernels::kRowBits;

void copy_pixels(const std::uint8_t* row, const AxisWeights& columns, std::int64_t channels,
                 std::uint8_t* out) {
  const std::int64_t count = columns.count();
  const std::int64_t first = columns.first(0);
  if (count == 1 || columns.first(1) > first) {
    std::memcpy(out, row + first * channels, static_cast<std::size_t>(count * channels));
    return;
  }
  if (channels == kColors) {
    for (std::int64_t x = 0; x < count; ++x)
      std::memcpy(out + x * kColors, row + columns.first(x) * kColors, kColors);
    return;
  }
  for (std::int64_t x = 0; x < count; ++x)
    std::copy_n(row + columns.first(x) * channels, channels, out + x * channels);
}

/// What ResampleKernels::add_columns does for RGB, to the bit.
template <int kChannels>  // 0: as many as `count` says
void add_columns(const std::int16_t* row, const AxisWeights& columns, std::int64_t count,
                 std::uint8_t* out) {
  const std::int64_t channels = kChannels > 0 ? kChannels : count;
  std::int32_t sums[kPictureChannelsMax];
  for (std::int64_t x = 0; x < columns.count(); ++x) {
    const std::int16_t* pixel = row + columns.first(x) * channels;
    std::fill_n(sums, channels, 1 << (kShift - 1));
    for (const std::int16_t weight : columns.weights(x))
      for (std::int64_t c = 0; c < channels; ++c) sums[c] += weight * *pixel++;
    for (std::int64_t c = 0; c < channels; ++c)
      *out++ = static_cast<std::uint8_t>(sums[c] >> kShift);
  }
}

void add_any_columns(const std::int16_t* row, const AxisWeights& columns, std::int64_t channels,
                     std::uint8_t* out) {
  if (channels == 1) return add_columns<1>(row, columns, channels, out);
  if (channels == 4) return add_columns<4>(row, columns, channels, out);
  if (channels == 8) return add_columns<8>(row, columns, channels, out);
  add_columns<0>(row, columns, channels, out);
}

}  // namespace

void AxisWeights::prepare(const AxisResize& resize, bool antialias) {
  BRIGADE_CHECK(resize.in > 0 && resize.resized > 0 && resize.count > 0, resize.in, resize.resized);
  const double length = resize.length > 0 ? resize.length : static_cast<double>(resize.in);
  const double scale = length / static_cast<double>(resize.resized);
  const double width = antialias ? std::max(scale, 1.0) : 1.0;
  copies_ = resize.length == 0 && resize.in == resize.resized;
  // An open interval of twice the width holds at most so many pixel centres.
  taps_ = copies_
              ? 1
              : std::min<std::int64_t>(static_cast<std::int64_t>(std::ceil(2 * width)), resize.in);
  firsts_.resize(static_cast<std::size_t>(resize.count));
  weights_.resize(static_cast<std::size_t>(resize.count * taps_));
  for (std::int64_t i = 0; i < resize.count; ++i) {
    const double center = resize.begin + (static_cast<double>(resize.first + i) + 0.5) * scale;
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
  const double factor = kOne / sum;
  double running = 0;
  std::int32_t before = 0;
  for (std::int64_t tap = 0; tap < taps_; ++tap) {
    running += exact_[static_cast<std::size_t>(tap)];
    const auto now = static_cast<std::int32_t>(running * factor + 0.5);
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
  BRIGADE_CHECK(in.channels > 0 && in.channels <= kPictureChannelsMax, in.channels);
  const std::int64_t bytes = in.width * in.channels;
  const bool rgb = in.channels == kColors;
  const auto samples = static_cast<std::size_t>(bytes + ResampleKernels::kRowSlack);
  if (row_.size() < samples) row_.resize(samples);
  sources_.resize(static_cast<std::size_t>(rows.taps()));
  const bool copies = rows.copies() && columns.copies();
  if (!copies && rgb) columns_.prepare(columns);
  for (std::int64_t y = 0; y < rows.count(); ++y, out += out_stride) {
    const std::uint8_t* const first = in.data + rows.first(y) * in.stride;
    if (copies) {
      copy_pixels(first, columns, in.channels, out);
      continue;
    }
    for (std::size_t tap = 0; tap < sources_.size(); ++tap)
      sources_[tap] = first + static_cast<std::int64_t>(tap) * in.stride;
    kernels_.add_rows(sources_.data(), rows.weights(y).data(), rows.taps(), bytes, row_.data());
    rgb ? kernels_.add_columns(row_.data(), columns_, out)
        : add_any_columns(row_.data(), columns, in.channels, out);
  }
}

}  // namespace brigade
