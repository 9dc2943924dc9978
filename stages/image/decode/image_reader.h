#pragma once

// Reads one image after another from bytes in memory, only the requested part. One
// implementation per library. One thread; memory is kept between images. Call order:
//
//   (open read? give_back?)*        `bytes` must stay until read() is over; pixels until
//                                   give_back() or the next open()
//
// open() allocates memory for a header only, so that its caller can reject the image;
// and it rejects one with more pixels than its bytes can hold. Errors describe the
// fault of the data in one line, without the name of the file, which the caller adds.

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string_view>

#include <brigade/result.h>
#include "stages/image/geometry/resample.h"

namespace brigade {

class DecodeIndex;

/// Which channels of an image are read.
enum class Channels : std::uint8_t {
  rgb,    ///< three: gray is spread, alpha left out, CMYK converted
  stored  ///< all that the file has, in their order; ink of CMYK is 255, colors of a palette three
};

/// As stored: what `orientation` (exif.h) says has not been done yet.
struct ImageHeader {
  std::int64_t height = 0;
  std::int64_t width = 0;
  int orientation = 1;
  int left_out = 0;  ///< by Channels::rgb: channels that are neither colors nor alpha
  int channels = 3;  ///< of the pixels that read() gives
};

/// In pixels of the stored image.
struct Box {
  std::int64_t y = 0;
  std::int64_t x = 0;
  std::int64_t height = 0;
  std::int64_t width = 0;
  friend bool operator==(const Box&, const Box&) = default;
};

/// Scans of a JPEG file that has so many pixels: each of them goes over all blocks, however few
/// bytes it has. Encoders write about ten, of CMYK 18. libjpeg-turbo's own fuzzers stop at 500.
/// Arithmetic codes may have a million decisions in a byte, so there it goes over all coefficients.
constexpr std::int64_t jpeg_scans_max(std::int64_t pixels, bool arithmetic) {
  constexpr std::int64_t kScansMax = 500;
  const std::int64_t scans_of_any_picture = arithmetic ? 18 : 32;
  const std::int64_t scanned_pixels_max = std::int64_t{1} << (arithmetic ? 28 : 31);  // a second
  return std::clamp(scanned_pixels_max / std::max<std::int64_t>(pixels, 1), scans_of_any_picture,
                    kScansMax);
}

class ImageReader {
 public:
  virtual ~ImageReader() = default;
  virtual Result<ImageHeader> open(std::string_view bytes, Channels channels) = 0;
  Result<ImageHeader> open(std::string_view bytes) { return open(bytes, Channels::rgb); }
  /// Shrinks the image of open() by a power of two of at most `most`, if the reader can do that
  /// while it decodes, and returns this number: sides become ceil(side / number). Before read(),
  /// whose box then lies in the shrunk image.
  virtual int reduce(int /*most*/) { return 1; }
  /// The pixels of a box that lies in the image; 16 bits are rounded to 8.
  virtual Result<Pixels> read(const Box& box) = 0;
  /// The pixels are not needed any more: what they took is given back if it is much.
  virtual void give_back() = 0;
};

/// Baseline and progressive JPEG, by libjpeg-turbo. Decodes the rows and columns of the box and a
/// margin around it, so that the pixels are those of a full decode. `index`: where to enter
/// baseline files, kept up to date; the pixels are the same. It must outlive the reader. Null:
/// none.
std::unique_ptr<ImageReader> make_jpeg_reader(DecodeIndex* index = nullptr);
/// PNG of any kind, by libpng.
std::unique_ptr<ImageReader> make_png_reader();
/// Of PNG files with a number for each pixel: gray levels of at most 8 bits, or the numbers of a
/// palette's colours. Its pixels have one byte.
std::unique_ptr<ImageReader> make_mask_reader();
/// BMP without compression: palettes, 16, 24 and 32 bits.
std::unique_ptr<ImageReader> make_bmp_reader();
/// PBM, PGM and PPM, as bytes or texts, of up to 65535 levels.
std::unique_ptr<ImageReader> make_pnm_reader();
/// These two, and by modules (imgcodecs.h), which are opened at the first such image, WebP and
/// TIFF, and JPEG 2000, OpenEXR, Radiance HDR and AVIF. What else there is is refused by its first
/// bytes.
std::unique_ptr<ImageReader> make_other_reader();

bool is_jpeg(std::string_view bytes);
bool is_png(std::string_view bytes);

}  // namespace brigade
