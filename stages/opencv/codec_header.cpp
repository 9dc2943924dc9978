#include "stages/opencv/codec_header.h"

#include <algorithm>
#include <charconv>
#include <cstddef>

#include <brigade/text.h>

namespace brigade::opencv {
namespace {

using namespace std::string_view_literals;

std::uint64_t big_endian(std::string_view bytes) {
  std::uint64_t number = 0;
  for (const char byte : bytes) number = number << 8 | static_cast<unsigned char>(byte);
  return number;
}
std::int32_t little_endian(std::string_view bytes) {
  std::uint32_t number = 0;
  for (std::size_t i = bytes.size(); i-- > 0;)
    number = number << 8 | static_cast<unsigned char>(bytes[i]);
  return static_cast<std::int32_t>(number);
}

Error broken(ImageCodec codec, std::string_view why) {
  return Error{concat("the ", codec_name(codec), " data cannot be read: ", why)};
}

/// Content of the first box of a type; empty: there is none.
std::string_view box_of(std::string_view bytes, std::string_view type) {
  while (bytes.size() >= 8) {
    std::uint64_t size = big_endian(bytes.substr(0, 4));
    std::size_t header = 8;
    if (size == 1 && bytes.size() >= 16) {
      size = big_endian(bytes.substr(8, 8));
      header = 16;
    } else if (size == 0) {
      size = bytes.size();  // to the end
    }
    if (size < header) return {};
    const std::size_t end = std::min<std::uint64_t>(size, bytes.size());
    if (bytes.substr(4, 4) == type) return bytes.substr(header, end - header);
    bytes.remove_prefix(end);
  }
  return {};
}

/// The segment SIZ, with which every codestream begins.
Result<CodecHeader> jpeg2000_header(std::string_view bytes) {
  constexpr std::string_view kBegin = "\xff\x4f\xff\x51"sv;
  const std::string_view stream = bytes.starts_with(kBegin) ? bytes : box_of(bytes, "jp2c");
  if (!stream.starts_with(kBegin)) return broken(ImageCodec::jpeg2000, "it has no codestream");
  constexpr std::size_t kFirstComponent = 42;
  if (stream.size() <= kFirstComponent)
    return broken(ImageCodec::jpeg2000, "its header ends too early");
  const auto number = [&](std::size_t at, std::size_t count) {
    return static_cast<std::int64_t>(big_endian(stream.substr(at, count)));
  };
  CodecHeader header;
  header.width = number(8, 4) - number(16, 4);
  header.height = number(12, 4) - number(20, 4);
  header.channels = static_cast<int>(number(40, 2));
  header.bits = static_cast<int>(number(kFirstComponent, 1) & 0x7f) + 1;
  return header;
}

/// The attribute dataWindow.
Result<CodecHeader> openexr_header(std::string_view bytes) {
  std::string_view rest = bytes.substr(std::min<std::size_t>(8, bytes.size()));
  while (!rest.empty() && rest.front() != '\0') {
    const std::size_t name = rest.find('\0');
    const std::size_t type = name == rest.npos ? rest.npos : rest.find('\0', name + 1);
    if (type == rest.npos || rest.size() - type < 5) break;
    const std::int32_t size = little_endian(rest.substr(type + 1, 4));
    const std::string_view value = rest.substr(type + 5);
    if (size < 0 || static_cast<std::size_t>(size) > value.size()) break;
    if (rest.substr(0, name) == "dataWindow" && size == 16) {
      const auto at = [&](std::size_t i) -> std::int64_t {
        return little_endian(value.substr(4 * i, 4));
      };
      return CodecHeader{at(3) - at(1) + 1, at(2) - at(0) + 1, 3, 32};
    }
    rest = value.substr(static_cast<std::size_t>(size));
  }
  return broken(ImageCodec::openexr, "its header has no dataWindow");
}

/// `-Y 480 +X 640`, the line after an empty one.
Result<CodecHeader> radiance_header(std::string_view bytes) {
  constexpr std::string_view kBeforeHeight = "\n\n-Y ";
  const std::size_t at = bytes.find(kBeforeHeight);
  const Error wrong =
      broken(ImageCodec::radiance_hdr, "its header has no line such as -Y 480 +X 640");
  if (at == bytes.npos) return wrong;
  const char* const end = bytes.data() + bytes.size();
  CodecHeader header{0, 0, 3, 32};
  const auto height = std::from_chars(bytes.data() + at + kBeforeHeight.size(), end, header.height);
  const std::string_view rest(height.ptr, static_cast<std::size_t>(end - height.ptr));
  if (height.ec != std::errc() || !rest.starts_with(" +X ")) return wrong;
  if (std::from_chars(height.ptr + 4, end, header.width).ec != std::errc()) return wrong;
  return header;
}

/// The largest of the boxes ispe: a file may have parts and a smaller copy.
Result<CodecHeader> avif_header(std::string_view bytes) {
  const std::string_view meta = box_of(bytes, "meta");
  CodecHeader header;
  for (std::size_t at = meta.find("ispe"); at != meta.npos && meta.size() - at >= 16;
       at = meta.find("ispe", at + 16)) {
    header.width =
        std::max(header.width, static_cast<std::int64_t>(big_endian(meta.substr(at + 8, 4))));
    header.height =
        std::max(header.height, static_cast<std::int64_t>(big_endian(meta.substr(at + 12, 4))));
  }
  if (header.width == 0) return broken(ImageCodec::avif, "its header has no size");
  return header;
}

}  // namespace

std::string_view codec_name(ImageCodec codec) {
  switch (codec) {
    case ImageCodec::webp:
      return "WebP";
    case ImageCodec::tiff:
      return "TIFF";
    case ImageCodec::jpeg2000:
      return "JPEG 2000";
    case ImageCodec::openexr:
      return "OpenEXR";
    case ImageCodec::radiance_hdr:
      return "Radiance HDR";
    case ImageCodec::avif:
      return "AVIF";
  }
  return "image";
}

Result<CodecHeader> read_codec_header(ImageCodec codec, std::string_view bytes) {
  switch (codec) {
    case ImageCodec::jpeg2000:
      return jpeg2000_header(bytes);
    case ImageCodec::openexr:
      return openexr_header(bytes);
    case ImageCodec::radiance_hdr:
      return radiance_header(bytes);
    case ImageCodec::avif:
      return avif_header(bytes);
    default:
      return broken(codec, "this module does not decode it with OpenCV");
  }
}

}  // namespace brigade::opencv
