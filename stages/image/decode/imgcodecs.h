#pragma once

// The door of the module `imgcodecs`, so that the module `image` links neither libwebp nor libtiff,
// nor what these bring along, until an image needs them. Both modules are of one build: the symbol
// has a version.

#include <memory>

#include "stages/image/decode/image_reader.h"

namespace brigade {

enum class ImageCodec : int { webp, tiff };

/// A new reader; never null.
using MakeImageReader = ImageReader*(ImageCodec codec);

inline constexpr const char* kImageCodecsSymbol = "brigade_imgcodecs_v3";

/// Lossy and lossless WebP of one picture, by libwebp: all of it is decoded.
std::unique_ptr<ImageReader> make_webp_reader();
/// The first picture of a TIFF file, by libtiff: gray, RGB or with a palette, of 1 to 16 bits and
/// at most 32 channels. The strips or tiles that the box needs are decoded.
std::unique_ptr<ImageReader> make_tiff_reader();

}  // namespace brigade

extern "C" __attribute__((visibility("default"))) brigade::MakeImageReader brigade_imgcodecs_v3;
