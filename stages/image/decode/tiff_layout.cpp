#include "stages/image/decode/tiff_layout.h"

#include <algorithm>
#include <iterator>
#include <span>
#include <string>
#include <string_view>

#include <brigade/text.h>
#include "stages/image/decode_image_contract.h"

namespace brigade {
namespace {

constexpr std::uint16_t kCompressions[] = {
    COMPRESSION_NONE, COMPRESSION_CCITTRLE,      COMPRESSION_CCITTFAX3, COMPRESSION_CCITTFAX4,
    COMPRESSION_LZW,  COMPRESSION_ADOBE_DEFLATE, COMPRESSION_DEFLATE,   COMPRESSION_PACKBITS,
    COMPRESSION_JPEG, COMPRESSION_ZSTD,          COMPRESSION_LZMA};

/// What people meet and is not read, or not by every build of libtiff.
struct Name {
  std::uint16_t value;
  std::string_view text;
};
constexpr Name kOtherCompressions[] = {{COMPRESSION_OJPEG, "old-style JPEG"},
                                       {COMPRESSION_JP2000, "JPEG 2000"},
                                       {COMPRESSION_LERC, "LERC"},
                                       {COMPRESSION_WEBP, "WebP"},
                                       {COMPRESSION_ZSTD, "zstd"},
                                       {COMPRESSION_LZMA, "LZMA"},
                                       {COMPRESSION_JXL, "JPEG XL"}};
constexpr Name kOtherColors[] = {{PHOTOMETRIC_SEPARATED, "CMYK"},
                                 {PHOTOMETRIC_YCBCR, "YCbCr without JPEG compression"},
                                 {PHOTOMETRIC_CIELAB, "CIE L*a*b*"},
                                 {PHOTOMETRIC_ICCLAB, "ICC L*a*b*"},
                                 {PHOTOMETRIC_ITULAB, "ITU L*a*b*"}};
constexpr Name kOtherFormats[] = {{SAMPLEFORMAT_INT, "signed integers"},
                                  {SAMPLEFORMAT_IEEEFP, "floating-point samples"},
                                  {SAMPLEFORMAT_COMPLEXINT, "complex samples"},
                                  {SAMPLEFORMAT_COMPLEXIEEEFP, "complex samples"}};

/// " (NAME)"; nothing where there is none.
std::string named(std::span<const Name> names, std::uint16_t value) {
  for (const Name& name : names)
    if (name.value == value) return concat(" (", name.text, ")");
  return {};
}

}  // namespace

/// What is read is what tests compare with Pillow.
Result<void> check_kind(const TiffLayout& in, bool configured, bool stored) {
  const bool gray = in.photometric == PHOTOMETRIC_MINISBLACK ||
                    (in.photometric == PHOTOMETRIC_MINISWHITE && in.samples - in.alphas < 3);
  const bool few = in.bits == 1 || in.bits == 2 || in.bits == 4;
  const bool inks = in.photometric == PHOTOMETRIC_SEPARATED;
  const bool good = (gray && (few || in.bits == 8 || in.bits == 16)) ||
                    (in.rgb() && in.samples >= 3 && (in.bits == 8 || in.bits == 16)) ||
                    (inks && stored && (in.bits == 8 || in.bits == 16)) ||
                    (in.photometric == PHOTOMETRIC_PALETTE && (few || in.bits == 8));
  if (!good || in.format != SAMPLEFORMAT_UINT)
    return Error{concat("it is a TIFF file of an unsupported kind (photometric ", in.photometric,
                        named(kOtherColors, in.photometric), ", ", in.samples, " x ", in.bits,
                        " bits, format ", in.format, named(kOtherFormats, in.format),
                        "); expected gray, RGB or a palette with 1 to 16 bits",
                        inks ? concat("; `channels: ", in.samples, "` reads its inks") : "")};
  if (in.samples > kPictureChannelsMax)
    return Error{concat("it is a TIFF file with ", in.samples, " channels; at most ",
                        kPictureChannelsMax, " are supported")};
  const auto* const end = std::end(kCompressions);
  const std::string compression = concat(in.compression, named(kOtherCompressions, in.compression));
  if (std::find(std::begin(kCompressions), end, in.compression) == end)
    return Error{concat("it is a TIFF file with the unsupported compression ", compression,
                        "; expected none, LZW, deflate, PackBits, zstd, LZMA, JPEG or fax; "
                        "convert the file")};
  if (!configured)
    return Error{concat("it is a TIFF file with the compression ", compression,
                        ", which this build of libtiff does not support; convert the file, or "
                        "use a libtiff that supports it")};
  return {};
}

std::optional<std::uint64_t> tiff_ratio_max(std::uint16_t compression) {
  switch (compression) {
    case COMPRESSION_NONE:
      return 1;
    case COMPRESSION_PACKBITS:
      return 64;
    case COMPRESSION_ADOBE_DEFLATE:
    case COMPRESSION_DEFLATE:
      return 1032;
    case COMPRESSION_ZSTD:
      return 32768;  // a block has 4 bytes or more, and gives 128 KiB
    case COMPRESSION_LZW:
      return 4096;  // a code has 9 bits or more, and a table 4096 strings, each longer by a byte
    default:
      return std::nullopt;
  }
}

}  // namespace brigade
