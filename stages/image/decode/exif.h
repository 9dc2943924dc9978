#pragma once

// The orientation that cameras write into their images: how the stored rows and columns must
// be rotated to be upright. 1 is upright; 2 to 4 mirror and rotate by half a turn; 5 to 8
// swap rows and columns, too. (CIPA DC-008 "Exif", tag 274.) Pure functions over any bytes.

#include <cstdint>
#include <string_view>

#include "stages/image/decode/image_reader.h"
#include "stages/image/decode/picture_bytes.h"

namespace brigade {

/// Of a TIFF structure, as it stands in a JPEG file's segment, a PNG's eXIf chunk, and a WebP's
/// EXIF chunk, with or without the "Exif\0\0" that belongs before it in the first. 1 where it says
/// nothing, or nonsense.
int tiff_orientation(std::string_view bytes);

/// Of a JPEG file.
int jpeg_orientation(std::string_view file);

/// Of a PNG file, wherever its eXIf chunk lies.
int png_orientation(std::string_view file);

/// Of a WebP file.
int webp_orientation(std::string_view file);

/// Height and width trade places.
constexpr bool swaps_sides(int orientation) { return orientation >= 5; }

/// Whether the upright rows, or columns, are stored from the last one on.
bool rows_are_reversed(int orientation);
bool columns_are_reversed(int orientation);

/// The stored box of what is `upright` in the upright image of a stored image of that size.
Box stored_box(const Box& upright, int orientation, std::int64_t height, std::int64_t width);

/// Turns a stored box upright, into `out`.
Pixels turn_upright(const Pixels& stored, int orientation, PictureBytes& out);

}  // namespace brigade
