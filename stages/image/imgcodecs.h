#pragma once

// The door of the module `imgcodecs`, a C function, so that the module `image` needs neither
// OpenCV nor a symbol of it until an image is neither JPEG nor PNG.

#include <cstddef>
#include <cstdint>

namespace brigade {

/// Gives memory for `height` rows of `width` RGB pixels without gaps; null refuses the image.
using ImagePlace = std::uint8_t* (*)(void* context, std::int64_t height, std::int64_t width);

/// Decodes an image, orientation done. False, with one line in `error`, where it cannot.
using ImageDecode = bool(const void* bytes, std::size_t size, ImagePlace place, void* context,
                         char* error, std::size_t error_bytes);

inline constexpr const char* kImageDecodeSymbol = "brigade_imgcodecs_v1";

}  // namespace brigade

extern "C" __attribute__((visibility("default"))) brigade::ImageDecode brigade_imgcodecs_v1;
