#pragma once

// A JPEG file decoded by libjpeg alone: what our reader is compared with. It gets the file in small
// pieces, which its fast Huffman decoder does not take. That one gives up at 0xff 0xff 0x00, a byte
// of data with one byte of filling, and leaves values behind in the block that is then decoded
// again (jdhuff.c of libjpeg-turbo 2.1).

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <string>

#include <jpeglib.h>

#include "tests/support/images/test_images.h"

namespace brigade::testing_support {

struct PlainJpeg {
  Picture picture;
  long warnings = 0;
};

/// What libjpeg's own source of memory has, a piece at a time.
struct JpegInPieces {
  static constexpr std::size_t kPieceBytes = 256;  // below the 512 per block that are fast

  explicit JpegInPieces(jpeg_decompress_struct& jpeg)
      : at(jpeg.src->next_input_byte),
        end(at + jpeg.src->bytes_in_buffer),
        at_end(jpeg.src->fill_input_buffer) {
    jpeg.client_data = this;
    jpeg.src->bytes_in_buffer = 0;
    jpeg.src->fill_input_buffer = [](j_decompress_ptr info) {
      auto& pieces = *static_cast<JpegInPieces*>(info->client_data);
      if (pieces.at == pieces.end) return pieces.at_end(info);
      const auto size = std::min(kPieceBytes, static_cast<std::size_t>(pieces.end - pieces.at));
      info->src->next_input_byte = pieces.at;
      info->src->bytes_in_buffer = size;
      pieces.at += size;
      return TRUE;
    };
  }

  const JOCTET* at;  // behind what libjpeg has
  const JOCTET* end;
  decltype(jpeg_source_mgr::fill_input_buffer) at_end;
};

/// At 1 / `reduction` of its size: 1, 2, 4 or 8. A file with errors, rather than warnings, ends the
/// test.
inline PlainJpeg decode_plainly(const std::string& file, unsigned reduction = 1) {
  jpeg_decompress_struct jpeg{};
  jpeg_error_mgr errors;
  jpeg.err = jpeg_std_error(&errors);
  errors.output_message = [](j_common_ptr) {};
  jpeg_create_decompress(&jpeg);
  jpeg_mem_src(&jpeg, reinterpret_cast<const unsigned char*>(file.data()), file.size());
  JpegInPieces pieces(jpeg);
  jpeg_read_header(&jpeg, TRUE);
  if (jpeg.num_components != 4) jpeg.out_color_space = JCS_RGB;
  jpeg.scale_denom = reduction;
  jpeg_start_decompress(&jpeg);
  PlainJpeg out{blank(jpeg.output_height, jpeg.output_width, jpeg.out_color_components)};
  while (jpeg.output_scanline < jpeg.output_height) {
    JSAMPROW row = &out.picture.at(jpeg.output_scanline, 0, 0);
    jpeg_read_scanlines(&jpeg, &row, 1);
  }
  out.warnings = errors.num_warnings;
  jpeg_destroy_decompress(&jpeg);
  return out;
}

}  // namespace brigade::testing_support
