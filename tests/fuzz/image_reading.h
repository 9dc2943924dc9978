#pragma once

// What the fuzzers of image readers do with a file: its header, a box of it and all of it, upright,
// as decode_image would. Errors must be one line.

#include <algorithm>
#include <cstring>
#include <optional>
#include <string>
#include <vector>

#include <brigade/check.h>
#include "stages/image/decode/exif.h"
#include "stages/image/decode/image_reader.h"
#include "tests/fuzz/entry.h"

namespace brigade::fuzzing {

inline constexpr std::size_t kBytesMax = 1 << 15;
inline constexpr std::int64_t kPixelsMax = 1 << 15;

inline void check_error(const Error& error) {
  BRIGADE_CHECK(!error.message.empty() && error.message.find('\n') == error.message.npos,
                error.message);
}

/// The sum of all pixels, so that all of them are read.
inline std::uint64_t sum_of(const Pixels& pixels) {
  std::uint64_t sum = 0;
  for (std::int64_t y = 0; y < pixels.height; ++y)
    for (std::int64_t i = 0; i < pixels.width * pixels.channels; ++i)
      sum += pixels.data[y * pixels.stride + i];
  return sum;
}

inline std::vector<std::uint8_t> copy_of(const Pixels& pixels) {
  std::vector<std::uint8_t> out;
  for (std::int64_t y = 0; y < pixels.height; ++y)
    out.insert(out.end(), pixels.data + y * pixels.stride,
               pixels.data + y * pixels.stride + pixels.width * pixels.channels);
  return out;
}

/// `plain`: what another way of reading gives of row `y`.
inline void check_row(const Pixels& pixels, std::int64_t y, const std::uint8_t* plain) {
  const auto bytes = static_cast<std::size_t>(pixels.width * pixels.channels);
  BRIGADE_CHECK(std::memcmp(pixels.data + y * pixels.stride, plain, bytes) == 0, y);
}

inline void check_rows(const Pixels& pixels, const std::uint8_t* plain) {
  for (std::int64_t y = 0; y < pixels.height; ++y)
    check_row(pixels, y, plain + y * pixels.width * pixels.channels);
}

/// A box that depends on the file's last bytes; whole: all of the picture.
inline Box box_of(std::string_view file, const ImageHeader& header, bool whole) {
  if (whole) return {0, 0, header.height, header.width};
  const auto draw = [&](std::size_t from_end, std::int64_t n) {
    const auto byte = static_cast<std::uint8_t>(file[file.size() - 1 - from_end % file.size()]);
    return byte * n / 256;
  };
  const std::int64_t height = 1 + draw(0, header.height), width = 1 + draw(1, header.width);
  return {draw(2, header.height - height + 1), draw(3, header.width - width + 1), height, width};
}

/// The stored pixels of all of the picture, if they can be read; those of a box must be the same.
inline std::optional<Pixels> read_image(ImageReader& reader, std::string_view file,
                                        Channels channels) {
  if (file.empty() || file.size() > kBytesMax) return {};
  std::optional<Pixels> all;
  Box box;
  std::vector<std::uint8_t> part;  // of the box
  for (const bool whole : {false, true}) {
    all.reset();
    const auto header = reader.open(file, channels);
    if (!header) {
      check_error(header.error());
      return {};
    }
    const std::int64_t height = header->height, width = header->width;
    if (height <= 0 || width <= 0 || height > kPixelsMax / width) return {};
    const auto pixels = reader.read(box_of(file, *header, whole));
    if (!pixels) {
      check_error(pixels.error());
      continue;
    }
    PictureBytes upright;
    const Pixels turned = turn_upright(*pixels, header->orientation, upright);
    BRIGADE_CHECK(sum_of(turned) == sum_of(*pixels));
    if (!whole) {
      box = box_of(file, *header, false);
      part = copy_of(*pixels);
    } else {
      all = *pixels;
      const std::uint8_t* const first = all->data + box.y * all->stride + box.x * all->channels;
      if (!part.empty())
        BRIGADE_CHECK(part == copy_of({first, all->stride, box.height, box.width, all->channels}),
                      box.y, box.x);
    }
  }
  return all;
}

/// Of all channels, and then of RGB.
inline std::optional<Pixels> read_image(ImageReader& reader, std::string_view file) {
  read_image(reader, file, Channels::stored);
  return read_image(reader, file, Channels::rgb);
}

}  // namespace brigade::fuzzing
