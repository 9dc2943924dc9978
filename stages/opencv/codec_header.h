#pragma once

// Reads the size of an image that OpenCV decodes from the first bytes of the
// file, before OpenCV allocates memory for it. Pure functions, without OpenCV.

#include <cstdint>
#include <string_view>

#include <brigade/result.h>
#include "stages/image/decode/imgcodecs.h"

namespace brigade::opencv {

struct CodecHeader {
  std::int64_t height = 0;
  std::int64_t width = 0;
  int channels = 3;
  int bits = 8;  ///< of each channel; of floating-point numbers 32
};

/// An error where the bytes are not of this kind, end early, or have what is not read.
Result<CodecHeader> read_codec_header(ImageCodec codec, std::string_view bytes);

/// `JPEG 2000`.
std::string_view codec_name(ImageCodec codec);

}  // namespace brigade::opencv
