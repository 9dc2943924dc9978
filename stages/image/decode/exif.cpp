#include "stages/image/decode/exif.h"

#include <zlib.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "stages/image/decode/byte_order.h"

namespace brigade {
namespace {

constexpr std::uint32_t kOrientationTag = 274;
constexpr std::size_t kEntryBytes = 12;        // of a TIFF directory
constexpr std::uint32_t kByte = 1, kLong = 4;  // types of its values; all others are read as SHORT
constexpr std::string_view kExifMark{"Exif\0\0", 6};

/// Rows or columns in reverse, in stored terms.
struct PictureTurn {
  bool swaps;
  bool reverses_rows;
  bool reverses_columns;
};

PictureTurn turn_of(int orientation) {
  switch (orientation) {
    case 2:
      return {false, false, true};
    case 3:
      return {false, true, true};
    case 4:
      return {false, true, false};
    case 5:
      return {true, false, false};
    case 6:
      return {true, true, false};
    case 7:
      return {true, true, true};
    case 8:
      return {true, false, true};
    default:
      return {false, false, false};
  }
}

}  // namespace

int tiff_orientation(std::string_view bytes) {
  if (bytes.starts_with(kExifMark)) bytes.remove_prefix(kExifMark.size());
  const bool big = bytes.starts_with("MM");
  if (!big && !bytes.starts_with("II")) return 1;
  if (number_at(bytes, 2, 2, big) != 42) return 1;
  const std::size_t directory = number_at(bytes, 4, 4, big);
  const std::uint32_t entries = number_at(bytes, directory, 2, big);
  for (std::uint32_t i = 0; i < entries; ++i) {
    const std::size_t entry = directory + 2 + i * kEntryBytes;
    if (entry >= bytes.size()) return 1;
    if (number_at(bytes, entry, 2, big) != kOrientationTag) continue;
    const std::uint32_t type = number_at(bytes, entry + 2, 2, big);
    const std::size_t size = type == kByte ? 1 : type == kLong ? 4 : 2;
    const std::uint32_t value = number_at(bytes, entry + 8, size, big);
    return value >= 1 && value <= 8 ? static_cast<int>(value) : 1;
  }
  return 1;
}

int jpeg_orientation(std::string_view file) {
  // Segments: FF, a marker, a length of two bytes that counts itself, the rest.
  for (std::size_t at = 2; at + 4 <= file.size();) {
    if (file[at] != '\xff') return 1;
    const auto marker = static_cast<std::uint8_t>(file[at + 1]);
    if (marker == 0xff) {  // padding
      ++at;
      continue;
    }
    if (marker == 0xda || marker == 0xd9) return 1;  // the image begins, or all is over
    const std::size_t length = number_at(file, at + 2, 2, true);
    if (length < 2) return 1;
    const std::string_view rest = file.substr(at + 4, length - 2);
    if (marker == 0xe1 && rest.starts_with(kExifMark))
      return tiff_orientation(rest.substr(kExifMark.size()));
    at += 2 + length;
  }
  return 1;
}

int png_orientation(std::string_view file) {
  // Chunks: a length of four bytes, four letters, so much, four bytes of CRC over letters and rest.
  constexpr std::size_t kSignatureBytes = 8, kFrameBytes = 12;
  for (std::size_t at = kSignatureBytes; at + kFrameBytes <= file.size();) {
    const std::size_t length = number_at(file, at, 4, true);
    if (length > file.size() - at - kFrameBytes) return 1;
    const std::string_view named = file.substr(at + 4, 4 + length);
    const std::uint32_t sum = number_at(file, at + 8 + length, 4, true);
    at += kFrameBytes + length;
    if (!named.starts_with("eXIf")) continue;
    const auto* const bytes = reinterpret_cast<const Bytef*>(named.data());
    if (crc32(0, bytes, static_cast<uInt>(named.size())) == sum)
      return tiff_orientation(named.substr(4));
  }
  return 1;
}

int webp_orientation(std::string_view file) {
  // "RIFF", a length, "WEBP"; chunks: four letters, a length, so much, a byte up to an even number.
  constexpr std::size_t kBeginBytes = 12, kFrameBytes = 8;
  for (std::size_t at = kBeginBytes; at + kFrameBytes <= file.size();) {
    const std::size_t length = number_at(file, at + 4, 4, false);
    const std::string_view rest = file.substr(at + kFrameBytes);
    if (file.substr(at).starts_with("EXIF"))
      return length <= rest.size() ? tiff_orientation(rest.substr(0, length)) : 1;
    at += kFrameBytes + length + length % 2;
  }
  return 1;
}

bool rows_are_reversed(int orientation) {
  const PictureTurn turn = turn_of(orientation);
  return turn.swaps ? turn.reverses_columns : turn.reverses_rows;
}

bool columns_are_reversed(int orientation) {
  const PictureTurn turn = turn_of(orientation);
  return turn.swaps ? turn.reverses_rows : turn.reverses_columns;
}

Box stored_box(const Box& upright, int orientation, std::int64_t height, std::int64_t width) {
  const PictureTurn turn = turn_of(orientation);
  Box box = upright;
  if (turn.swaps) box = {upright.x, upright.y, upright.width, upright.height};
  if (turn.reverses_rows) box.y = height - box.y - box.height;
  if (turn.reverses_columns) box.x = width - box.x - box.width;
  return box;
}

Pixels turn_upright(const Pixels& stored, int orientation, PictureBytes& out) {
  const PictureTurn turn = turn_of(orientation);
  const std::int64_t channels = stored.channels;
  Pixels upright{nullptr, 0, stored.height, stored.width, stored.channels};
  if (turn.swaps) std::swap(upright.height, upright.width);
  upright.stride = upright.width * channels;
  std::uint8_t* const first =
      out.at_least(static_cast<std::size_t>(upright.stride * upright.height));
  upright.data = first;
  const std::int64_t row_step = turn.swaps ? channels : upright.stride;  // to the next stored row
  const std::int64_t column_step = turn.swaps ? upright.stride : channels;
  for (std::int64_t y = 0; y < stored.height; ++y) {
    const std::int64_t row = turn.reverses_rows ? stored.height - 1 - y : y;
    const std::uint8_t* from = stored.data + y * stored.stride;
    std::uint8_t* to = first + row * row_step;
    if (turn.reverses_columns) to += (stored.width - 1) * column_step;
    const std::int64_t step = turn.reverses_columns ? -column_step : column_step;
    if (channels == 3) {
      for (std::int64_t x = 0; x < stored.width; ++x, from += 3, to += step)
        std::memcpy(to, from, 3);
      continue;
    }
    for (std::int64_t x = 0; x < stored.width; ++x, from += channels, to += step)
      std::copy_n(from, channels, to);
  }
  return upright;
}

}  // namespace brigade
