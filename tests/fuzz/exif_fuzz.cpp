// Bytes as each of the files that may say an orientation: one of eight.

#include <brigade/check.h>
#include "stages/image/decode/exif.h"
#include "tests/fuzz/entry.h"

namespace brigade {

void fuzz(std::string_view bytes) {
  for (const auto of : {tiff_orientation, jpeg_orientation, png_orientation, webp_orientation}) {
    const int orientation = of(bytes);
    BRIGADE_CHECK(orientation >= 1 && orientation <= 8, orientation);
  }
}

}  // namespace brigade
