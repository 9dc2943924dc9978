#pragma once

// One pixel of normalize(): compiled by the host's compiler for the CPU, and by nvcc for
// both sides of the GPU's kernels, so that they can differ only in the rounding to 16
// bits, which is to the nearest even everywhere. Plain data and arithmetic: no library.

#include <cstdint>

#include <brigade/cuda.h>

#ifdef __CUDACC__
#define BRIGADE_HOST_DEVICE __host__ __device__
#else
#define BRIGADE_HOST_DEVICE
#endif

namespace brigade::cuda {

/// What a kernel is told of a Normalization. Sizes of one picture fit 32 bits: check() says so.
struct PixelWork {
  std::int32_t height, width, channels, pad, cut_height, cut_width;
  std::int32_t planes, channels_last;
  float mean[kChannelsMax], std[kChannelsMax];
};

/// The cuts of one launch: with PixelWork they fit the 4 KiB that a kernel's arguments may take.
inline constexpr std::int32_t kCutsMax = 256;
struct Cuts {
  Cut at[kCutsMax];
};
static_assert(sizeof(PixelWork) + sizeof(Cuts) + 2 * sizeof(void*) <= 4096);

/// Threads of a block, of which each makes so many pixels, with all their channels.
inline constexpr std::int32_t kBlockThreads = 256;
inline constexpr std::int32_t kThreadPixels = 16;
inline constexpr std::int32_t kBlockPixels = kBlockThreads * kThreadPixels;

/// What is written for each level of the first channels: a block makes it before its pixels, since
/// two exact divisions for each value take a GPU longer than its memory does.
inline constexpr std::int32_t kTableChannels = 4;
template <class Value>
struct LevelTable {
  Value of[kTableChannels][256];
};

BRIGADE_HOST_DEVICE inline float normal_value(const PixelWork& work, std::uint8_t level,
                                              std::int32_t channel) {
  return (static_cast<float>(level) / 255 - work.mean[channel]) / work.std[channel];
}

/// `pixel`: of the cut, by rows. `value(level, channel)` gives what is written.
template <class Value, class Make>
BRIGADE_HOST_DEVICE inline void normalize_pixel(const PixelWork& work, const Cut& cut,
                                                std::int32_t pixel, const std::uint8_t* picture,
                                                Value* values, const Make& value) {
  const std::int32_t row = pixel / work.cut_width;
  const std::int32_t column = pixel - row * work.cut_width;
  const std::int32_t from_row = cut.y + row - work.pad;
  const std::int32_t from_column =
      cut.x + (cut.mirrored ? work.cut_width - 1 - column : column) - work.pad;
  const bool inside =
      from_row >= 0 && from_row < work.height && from_column >= 0 && from_column < work.width;
  const std::int32_t from = inside ? from_row * work.width + from_column : 0;
  const std::int32_t from_step = work.planes ? work.height * work.width : 1;
  const std::int32_t from_first = work.planes ? from : from * work.channels;
  const std::int32_t to_step = work.channels_last ? 1 : work.cut_height * work.cut_width;
  const std::int32_t to_first = work.channels_last ? pixel * work.channels : pixel;
  for (std::int32_t c = 0; c < work.channels; ++c) {
    const std::uint8_t level = inside ? picture[from_first + c * from_step] : std::uint8_t{0};
    values[to_first + c * to_step] = value(level, c);
  }
}

/// The first part of a thread of a kernel: the level of its number. `value(level, channel)`.
template <class Value, class Make>
BRIGADE_HOST_DEVICE inline void make_level(const PixelWork& work, std::uint32_t thread,
                                           const Make& value, LevelTable<Value>& table) {
  static_assert(kBlockThreads == 256, "a level for each thread");
  for (std::int32_t c = 0; c < work.channels && c < kTableChannels; ++c)
    table.of[c][thread] = value(static_cast<std::uint8_t>(thread), c);
}

/// The second, once the whole block has done the first. `block_y` is the picture.
template <class Value, class Make>
BRIGADE_HOST_DEVICE inline void make_pixels(const PixelWork& work, const Cuts& cuts,
                                            std::uint32_t block_x, std::uint32_t block_y,
                                            std::uint32_t thread, const std::uint8_t* pictures,
                                            const LevelTable<Value>& table, const Make& make,
                                            Value* values) {
  const std::int64_t pixels = std::int64_t{work.cut_height} * work.cut_width;
  pictures += block_y * (std::int64_t{work.height} * work.width * work.channels);
  values += block_y * (pixels * work.channels);
  const auto value = [&](std::uint8_t level, std::int32_t channel) {
    return channel < kTableChannels ? table.of[channel][level] : make(level, channel);
  };
  std::int64_t pixel = std::int64_t{block_x} * kBlockPixels + thread;
  for (std::int32_t i = 0; i < kThreadPixels && pixel < pixels; ++i, pixel += kBlockThreads)
    normalize_pixel(work, cuts.at[block_y], static_cast<std::int32_t>(pixel), pictures, values,
                    value);
}

}  // namespace brigade::cuda
