// Bytes as a picture that is no JPEG and no PNG, above all as a BMP file: an error in one line, or
// pixels, those of a box the same as of the whole.

#include "tests/fuzz/image_reading.h"

namespace brigade {

void fuzz(std::string_view file) {
  static const auto reader = make_other_reader();
  fuzzing::read_image(*reader, file);
}

}  // namespace brigade
