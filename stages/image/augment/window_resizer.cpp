#include "stages/image/augment/window_resizer.h"

#include <cstring>

namespace brigade {

void WindowResizer::run(Canvas& canvas, std::int64_t y, std::int64_t x, PictureSize window,
                        PictureSize size, const Options& options) {
  canvas.note({.to = size, .y = y, .x = x, .window = window});
  if (options.filter == ResizeFilter::bilinear)
    return bilinear(canvas, y, x, window, size, options.antialias);
  if (options.filter == ResizeFilter::nearest) return nearest(canvas, y, x, window, size);
  const std::int64_t stride = canvas.row_bytes();
  const std::int64_t channels = canvas.channels();
  const CubicPixels in{canvas.pixels() + y * stride + x * channels, stride, window.height,
                       window.width, channels};
  cubic_.run(in, size.height, size.width, options.antialias, canvas.other(size));
}

/// Grey pictures as RGB.
void WindowResizer::bilinear(Canvas& canvas, std::int64_t y, std::int64_t x, PictureSize window,
                             PictureSize size, bool antialias) {
  rows_.prepare({window.height, size.height, 0, size.height}, antialias);
  columns_.prepare({window.width, size.width, 0, size.width}, antialias);
  const std::int64_t channels = canvas.channels();
  const std::int64_t stride = canvas.row_bytes();
  const std::uint8_t* const first = canvas.pixels() + (y + rows_.first_needed()) * stride +
                                    (x + columns_.first_needed()) * channels;
  Pixels needed{first, stride, rows_.end_needed() - rows_.first_needed(),
                columns_.end_needed() - columns_.first_needed()};
  if (channels == kRgbChannels) {
    resampler_.run(needed, rows_, columns_, canvas.other(size), size.width * kRgbChannels);
    return;
  }
  needed = as_rgb(needed);
  small_.resize(static_cast<std::size_t>(size.pixels() * kRgbChannels));
  resampler_.run(needed, rows_, columns_, small_.data(), size.width * kRgbChannels);
  std::uint8_t* const to = canvas.other(size);
  for (std::int64_t i = 0; i < size.pixels(); ++i)
    to[i] = small_[static_cast<std::size_t>(i * kRgbChannels)];
}

Pixels WindowResizer::as_rgb(const Pixels& grey) {
  colors_.resize(static_cast<std::size_t>(grey.height * grey.width * kRgbChannels));
  std::uint8_t* to = colors_.data();
  for (std::int64_t y = 0; y < grey.height; ++y)
    for (std::int64_t x = 0; x < grey.width; ++x, to += kRgbChannels)
      std::memset(to, grey.data[y * grey.stride + x], kRgbChannels);
  return {colors_.data(), grey.width * kRgbChannels, grey.height, grey.width};
}

void WindowResizer::nearest(Canvas& canvas, std::int64_t y, std::int64_t x, PictureSize window,
                            PictureSize size) {
  const std::int64_t channels = canvas.channels();
  const std::int64_t stride = canvas.row_bytes();
  const std::uint8_t* const first = canvas.pixels() + y * stride + x * channels;
  offsets_.resize(static_cast<std::size_t>(size.width));
  for (std::int64_t i = 0; i < size.width; ++i)
    offsets_[static_cast<std::size_t>(i)] = nearest_index(i, window.width, size.width) * channels;
  std::uint8_t* to = canvas.other(size);
  for (std::int64_t row = 0; row < size.height; ++row) {
    const std::uint8_t* const from =
        first + nearest_index(row, window.height, size.height) * stride;
    for (const std::int64_t offset : offsets_)
      for (std::int64_t c = 0; c < channels; ++c) *to++ = from[offset + c];
  }
}

}  // namespace brigade
