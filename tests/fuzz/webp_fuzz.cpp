// Bytes as a WebP file: an error in one line, or pixels, those of a box the same as of the whole,
// and as libwebp gives them by its simplest call.

#include <webp/decode.h>

#include <memory>

#include "stages/image/decode/imgcodecs.h"
#include "tests/fuzz/image_reading.h"

namespace brigade {

void fuzz(std::string_view file) {
  static const auto reader = make_webp_reader();
  const auto pixels = fuzzing::read_image(*reader, file);
  if (!pixels) return;
  int width = 0, height = 0;
  const std::unique_ptr<std::uint8_t, void (*)(void*)> plain(
      WebPDecodeRGB(reinterpret_cast<const std::uint8_t*>(file.data()), file.size(), &width,
                    &height),
      WebPFree);
  if (plain == nullptr) return;
  BRIGADE_CHECK(width == pixels->width && height == pixels->height, width, height);
  fuzzing::check_rows(*pixels, plain.get());
}

}  // namespace brigade
