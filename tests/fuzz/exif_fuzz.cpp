// Bytes as each of the files that may say an orientation: one of eight.

#include <brigade/check.h>
#include "stages/image/decode/exif.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  for (const auto of : {brigade::tiff_orientation, brigade::jpeg_orientation,
                        brigade::png_orientation, brigade::webp_orientation}) {
    const int orientation = of(bytes);
    BRIGADE_CHECK(orientation >= 1 && orientation <= 8, orientation);
  }
  return 0;
}
