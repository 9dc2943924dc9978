// Bytes as a BMP file: an error in one line, or pixels, those of a box the same as of the whole.

#include "tests/fuzz/image_reading.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const auto reader = brigade::make_bmp_reader();
  const std::string_view file(reinterpret_cast<const char*>(data), size);
  if (size <= brigade::fuzzing::kBytesMax && file.starts_with("BM"))
    brigade::fuzzing::read_image(*reader, file);
  return 0;
}
