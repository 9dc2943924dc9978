#pragma once

// The one place in libjpeg-turbo's private memory that JpegHuffman writes: the pointer to the
// function that decodes an MCU. It lies behind another in jpeg_entropy_decoder (jpegint.h), in all
// versions from 1.0 to 3.1. No header of the library says so, hence it is tried.

#include <cstddef>
#include <cstdio>  // jpeglib.h needs FILE, which it does not include

#include <jpeglib.h>

namespace brigade {

using DecodeMcu = ::boolean (*)(j_decompress_ptr jpeg, JBLOCKROW* blocks);

inline constexpr std::size_t kDecodeMcuAt = 1;  ///< among the pointers of jpeg_entropy_decoder

/// That pointer, after jpeg_start_decompress(). Null where no function of libjpeg is there.
DecodeMcu* find_decode_mcu(jpeg_decompress_struct& jpeg, std::size_t at = kDecodeMcuAt);

/// Whether this is libjpeg-turbo, of a version that was tried, and a small picture comes out equal
/// to the bit when JpegHuffman decodes it: less than a millisecond, once in a process. Else a line
/// of the log says it. Any thread.
bool jpeg_layout_fits();
/// The same without a memory, and with another place.
bool try_jpeg_layout(std::size_t at);

}  // namespace brigade
