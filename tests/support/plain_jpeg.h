#pragma once

// A JPEG file decoded by libjpeg alone, as its manual says: what our reader is compared with.

#include <cstdio>
#include <string>

#include <jpeglib.h>

#include "tests/support/test_images.h"

namespace brigade::testing_support {

struct PlainJpeg {
  Picture picture;
  long warnings = 0;
};

/// A file with errors, rather than warnings, ends the test.
inline PlainJpeg decode_plainly(const std::string& file) {
  jpeg_decompress_struct jpeg{};
  jpeg_error_mgr errors;
  jpeg.err = jpeg_std_error(&errors);
  errors.output_message = [](j_common_ptr) {};
  jpeg_create_decompress(&jpeg);
  jpeg_mem_src(&jpeg, reinterpret_cast<const unsigned char*>(file.data()), file.size());
  jpeg_read_header(&jpeg, TRUE);
  if (jpeg.num_components != 4) jpeg.out_color_space = JCS_RGB;
  jpeg_start_decompress(&jpeg);
  PlainJpeg out{blank(jpeg.image_height, jpeg.image_width, jpeg.out_color_components)};
  while (jpeg.output_scanline < jpeg.output_height) {
    JSAMPROW row = &out.picture.at(jpeg.output_scanline, 0, 0);
    jpeg_read_scanlines(&jpeg, &row, 1);
  }
  out.warnings = errors.num_warnings;
  jpeg_destroy_decompress(&jpeg);
  return out;
}

}  // namespace brigade::testing_support
