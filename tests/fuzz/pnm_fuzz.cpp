// Bytes as a PNM file: an error in one line, or pixels, those of a box the same as of the whole.

#include "tests/fuzz/image_reading.h"

namespace brigade {

void fuzz(std::string_view file) {
  static const auto reader = make_pnm_reader();
  // What other_reader.cpp takes for PNM.
  if (file.size() > 2 && file[0] == 'P' && file[1] >= '1' && file[1] <= '6')
    fuzzing::read_image(*reader, file);
}

}  // namespace brigade
