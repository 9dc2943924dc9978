// Bytes as a file that OpenCV decodes (JPEG 2000, OpenEXR, Radiance HDR): an error in one line, or
// pixels, those of a box the same as of the whole.

#include <unistd.h>

#include <cstdlib>
#include <memory>
#include <optional>

#include "stages/image/decode/imgcodecs.h"
#include "tests/fuzz/image_reading.h"

namespace brigade {
namespace {

using namespace std::string_view_literals;

/// By the first bytes, as decode_image has it. AVIF is not read by the OpenCV of Debian 12 (4.6).
std::optional<ImageCodec> codec_of(std::string_view file) {
  if (file.starts_with("\0\0\0\x0cjP  "sv) || file.starts_with("\xff\x4f\xff\x51"))
    return ImageCodec::jpeg2000;
  if (file.starts_with("v/1\x01")) return ImageCodec::openexr;
  if (file.starts_with("#?RADIANCE") || file.starts_with("#?RGBE")) return ImageCodec::radiance_hdr;
  return std::nullopt;
}

}  // namespace

void fuzz(std::string_view file) {
  const auto codec = codec_of(file);
  if (!codec) return;
  const std::unique_ptr<ImageReader> reader(brigade_opencv_imgcodecs_v1(*codec));
  fuzzing::read_image(*reader, file);
}

}  // namespace brigade

/// OpenCV reads its variables before main(), so the program begins again with them.
extern "C" int LLVMFuzzerInitialize(int*, char*** arguments) {
  constexpr const char* kPixelsMax = "OPENCV_IO_MAX_IMAGE_PIXELS";
  if (std::getenv(kPixelsMax) != nullptr) return 0;
  setenv(kPixelsMax, std::to_string(brigade::fuzzing::kPixelsMax).c_str(), 1);
  setenv("OPENCV_IO_ENABLE_OPENEXR", "1", 1);
  execv("/proc/self/exe", *arguments);
  BRIGADE_CHECK(false, "cannot begin again");
  return 1;
}
