// Bytes as a TIFF file: an error in one line, or pixels, those of a box the same as of the whole;
// and where libtiff makes RGBA of it, the same ones. (Where a pixel is not opaque, libtiff
// multiplies; a palette that leaves all high bytes empty it takes for one of 8 bits.)

#include <sys/mman.h>
#include <tiffio.h>
#include <unistd.h>

#include "base/io.h"
#include "stages/image/decode/imgcodecs.h"
#include "tests/fuzz/image_reading.h"

namespace brigade {
namespace {

constexpr tmsize_t kBlockBytesMax = tmsize_t{64} << 20;

TIFF* open(std::string_view file) {
  const int fd = memfd_create("tiff", 0);
  BRIGADE_CHECK(fd >= 0 && write_all(fd, file));
  TIFFOpenOptions* const options = TIFFOpenOptionsAlloc();
  TIFFOpenOptionsSetMaxSingleMemAlloc(options, kBlockBytesMax);
  const auto pass_over = [](TIFF*, void*, const char*, const char*, va_list) { return 1; };
  TIFFOpenOptionsSetErrorHandlerExtR(options, pass_over, nullptr);
  TIFFOpenOptionsSetWarningHandlerExtR(options, pass_over, nullptr);
  TIFF* const tiff = TIFFFdOpenExt(fd, "image", "rm", options);
  TIFFOpenOptionsFree(options);
  if (tiff == nullptr) close(fd);
  return tiff;
}

bool has_short_palette(const TIFFRGBAImage& image) {
  if (image.photometric != PHOTOMETRIC_PALETTE) return false;
  for (const std::uint16_t* map : {image.redcmap, image.greencmap, image.bluecmap})
    if (std::any_of(map, map + (1 << image.bitspersample), [](int level) { return level > 255; }))
      return false;
  return true;
}

void compare(TIFF* tiff, const Pixels& pixels) {
  char why[1024];
  TIFFRGBAImage image;
  if (TIFFRGBAImageBegin(&image, tiff, 1, why) == 0) return;
  image.req_orientation = image.orientation;  // as it is stored
  const bool short_palette = has_short_palette(image);
  const std::int64_t width = pixels.width, height = pixels.height;
  std::vector<std::uint32_t> plain(static_cast<std::size_t>(width * height));
  const bool read = image.width == width && image.height == height &&
                    TIFFRGBAImageGet(&image, plain.data(), image.width, image.height) != 0;
  TIFFRGBAImageEnd(&image);
  for (std::size_t i = 0; read && !short_palette && i < plain.size(); ++i) {
    if (TIFFGetA(plain[i]) != 255) continue;
    const auto at = static_cast<std::int64_t>(i);
    const std::uint8_t* const ours = pixels.data + at / width * pixels.stride + at % width * 3;
    BRIGADE_CHECK(ours[0] == TIFFGetR(plain[i]) && ours[1] == TIFFGetG(plain[i]) &&
                      ours[2] == TIFFGetB(plain[i]),
                  at / width, at % width);
  }
}

}  // namespace

void fuzz(std::string_view file) {
  static const auto reader = make_tiff_reader();
  const auto pixels = fuzzing::read_image(*reader, file);
  if (!pixels) return;
  TIFF* const tiff = open(file);
  if (tiff == nullptr) return;
  compare(tiff, *pixels);
  TIFFClose(tiff);
}

}  // namespace brigade
