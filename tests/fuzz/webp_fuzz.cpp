// Bytes as a WebP file: an error in one line, or pixels, those of a box the same as of the whole.

#include "stages/image/imgcodecs.h"
#include "tests/fuzz/image_reading.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const auto reader = brigade::make_webp_reader();
  const std::string_view file(reinterpret_cast<const char*>(data), size);
  if (size > 0 && size <= brigade::fuzzing::kBytesMax) brigade::fuzzing::read_image(*reader, file);
  return 0;
}
