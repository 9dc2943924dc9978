#include "pipeline/cli/samples/png.h"

#include <zlib.h>

#include <algorithm>
#include <string_view>

#include <brigade/check.h>

namespace brigade {
namespace {

std::string big_endian(std::uint32_t value) {
  std::string bytes;
  for (int shift = 24; shift >= 0; shift -= 8) bytes += static_cast<char>(value >> shift & 0xff);
  return bytes;
}

// Length, type, data, checksum of type and data.
std::string chunk(std::string_view type, const std::string& data) {
  const std::string body = std::string(type) + data;
  const uLong checksum =
      crc32(0, reinterpret_cast<const Bytef*>(body.data()), static_cast<uInt>(body.size()));
  return big_endian(static_cast<std::uint32_t>(data.size())) + body +
         big_endian(static_cast<std::uint32_t>(checksum));
}

std::string header(std::uint32_t height, std::uint32_t width, std::uint32_t channels) {
  constexpr char kColorTypes[] = {0, 4, 2, 6};  // gray, gray and alpha, RGB, RGB and alpha
  std::string data = big_endian(width) + big_endian(height);
  data += '\x08';  // bits per channel
  data += kColorTypes[channels - 1];
  data.append(3, '\0');  // deflate, the only filter set, not interlaced
  return chunk("IHDR", data);
}

std::string packed(const std::string& bytes) {
  uLongf size = compressBound(static_cast<uLong>(bytes.size()));
  std::string out(size, '\0');
  const int status =
      compress(reinterpret_cast<Bytef*>(out.data()), &size,
               reinterpret_cast<const Bytef*>(bytes.data()), static_cast<uLong>(bytes.size()));
  BRIGADE_CHECK(status == Z_OK, status);
  out.resize(size);
  return out;
}

}  // namespace

std::string encode_png(std::span<const std::uint8_t> pixels, std::uint32_t height,
                       std::uint32_t width, std::uint32_t channels) {
  const std::size_t row_bytes = std::size_t{width} * channels;
  BRIGADE_CHECK(channels >= 1 && channels <= 4 && pixels.size() == height * row_bytes,
                pixels.size(), height, width, channels);
  std::string rows;
  for (std::size_t row = 0; row < height; ++row) {
    rows += '\0';  // this row is not filtered
    const auto bytes = pixels.subspan(row * row_bytes, row_bytes);
    rows.append(bytes.begin(), bytes.end());
  }
  return "\x89PNG\r\n\x1a\n" + header(height, width, channels) + chunk("IDAT", packed(rows)) +
         chunk("IEND", "");
}

}  // namespace brigade
