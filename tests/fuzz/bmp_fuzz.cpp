// Bytes as a picture that is no JPEG and no PNG, above all as a BMP file: an error in one line, or
// pixels, those of a box the same as of the whole.

#include "tests/fuzz/image_reading.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const auto reader = brigade::make_other_reader();
  const std::string_view file(reinterpret_cast<const char*>(data), size);
  if (size <= brigade::fuzzing::kBytesMax) brigade::fuzzing::read_image(*reader, file);
  return 0;
}
