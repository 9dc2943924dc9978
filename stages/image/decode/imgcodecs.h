#pragma once

// The entry points of the modules `imgcodecs` and `opencv_imgcodecs`, so that the module
// `image` loads neither libwebp nor libtiff nor OpenCV, nor their dependencies, until an
// image needs them. The modules must be of one build: the symbols have a version.

#include <cstddef>
#include <memory>

#include "stages/image/decode/image_reader.h"

namespace brigade {

enum class ImageCodec : int { webp, tiff, jpeg2000, openexr, radiance_hdr, avif };
inline constexpr std::size_t kImageCodecs = 6;
/// Of the module `opencv_imgcodecs` (stages/opencv).
constexpr bool is_of_opencv(ImageCodec codec) { return codec >= ImageCodec::jpeg2000; }

/// A new reader; never null.
using MakeImageReader = ImageReader*(ImageCodec codec);

inline constexpr const char* kImageCodecsSymbol = "brigade_imgcodecs_v3";
inline constexpr const char* kOpenCvCodecsSymbol = "brigade_opencv_imgcodecs_v1";

/// Lossy and lossless WebP of one picture, by libwebp: all of it is decoded.
std::unique_ptr<ImageReader> make_webp_reader();
/// The first picture of a TIFF file, by libtiff: gray, RGB or with a palette, of 1 to 16 bits and
/// at most 32 channels. The strips or tiles that the box needs are decoded.
std::unique_ptr<ImageReader> make_tiff_reader();

}  // namespace brigade

extern "C" __attribute__((visibility("default"))) brigade::MakeImageReader brigade_imgcodecs_v3;
extern "C" __attribute__((visibility("default")))
brigade::MakeImageReader brigade_opencv_imgcodecs_v1;
