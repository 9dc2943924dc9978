// Bytes as a PNM file: an error in one line, or pixels, those of a box the same as of the whole.

#include "tests/fuzz/image_reading.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const auto reader = brigade::make_pnm_reader();
  const std::string_view file(reinterpret_cast<const char*>(data), size);
  // What other_reader.cpp takes for PNM.
  if (size > 2 && size <= brigade::fuzzing::kBytesMax && file[0] == 'P' && file[1] >= '1' &&
      file[1] <= '6')
    brigade::fuzzing::read_image(*reader, file);
  return 0;
}
