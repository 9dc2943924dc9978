// Bytes as a JPEG file: an error in one line, or pixels; and where libjpeg alone has nothing to say
// against it, the same ones to the bit. Each part is read with what the parts before left in a
// decode index.

#include <sys/mman.h>

#include <brigade/text.h>
#include "stages/image/decode/decode_index.h"
#include "tests/fuzz/image_reading.h"
#include "tests/support/images/plain_jpeg.h"

namespace brigade {

void fuzz(std::string_view file) {
  static DecodeIndex index =
      DecodeIndex::open(concat("/proc/self/fd/", memfd_create("index", MFD_CLOEXEC))).value();
  static const auto reader = make_jpeg_reader(&index);
  const auto pixels = fuzzing::read_image(*reader, file);
  if (!pixels) return;
  const auto [plain, warnings] = testing_support::decode_plainly(std::string(file));
  if (warnings > 0 || plain.channels != 3) return;
  fuzzing::check_rows(*pixels, plain.bytes.data());
}

}  // namespace brigade
