#include "stages/image/augment/window_resizer.h"

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

void WindowResizer::bilinear(Canvas& canvas, std::int64_t y, std::int64_t x, PictureSize window,
                             PictureSize size, bool antialias) {
  rows_.prepare({window.height, size.height, 0, size.height}, antialias);
  columns_.prepare({window.width, size.width, 0, size.width}, antialias);
  const std::int64_t channels = canvas.channels();
  const std::int64_t stride = canvas.row_bytes();
  const std::uint8_t* const first = canvas.pixels() + (y + rows_.first_needed()) * stride +
                                    (x + columns_.first_needed()) * channels;
  const Pixels needed{first, stride, rows_.end_needed() - rows_.first_needed(),
                      columns_.end_needed() - columns_.first_needed(), static_cast<int>(channels)};
  resampler_.run(needed, rows_, columns_, canvas.other(size), size.width * channels);
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
