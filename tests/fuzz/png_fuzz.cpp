// Bytes as a PNG file: an error in one line, or pixels.

#include "tests/fuzz/image_reading.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const auto reader = brigade::make_png_reader();
  if (size > 0 && size <= brigade::fuzzing::kBytesMax)
    brigade::fuzzing::read_image(*reader, {reinterpret_cast<const char*>(data), size});
  return 0;
}
