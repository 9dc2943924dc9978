#pragma once

// Pictures for tests: made up, and written as JPEG and PNG files of many kinds.

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include <jpeglib.h>
#include <png.h>

#include <brigade/check.h>
#include <brigade/random.h>
#include "stages/image/geometry/resample.h"

namespace brigade::testing_support {

/// Interleaved 8-bit samples without gaps.
struct Picture {
  std::int64_t height = 0;
  std::int64_t width = 0;
  std::int64_t channels = 3;
  std::vector<std::uint8_t> bytes;

  std::uint8_t& at(std::int64_t y, std::int64_t x, std::int64_t c) {
    return bytes[static_cast<std::size_t>((y * width + x) * channels + c)];
  }
  std::uint8_t at(std::int64_t y, std::int64_t x, std::int64_t c) const {
    return bytes[static_cast<std::size_t>((y * width + x) * channels + c)];
  }
  Pixels pixels() const {
    return {bytes.data(), width * channels, height, width, static_cast<int>(channels)};
  }
  friend bool operator==(const Picture&, const Picture&) = default;
};

inline Picture blank(std::int64_t height, std::int64_t width, std::int64_t channels = 3) {
  return {height, width, channels,
          std::vector<std::uint8_t>(static_cast<std::size_t>(height * width * channels))};
}

/// Waves of several lengths, edges and some noise: what a photograph has.
inline Picture photograph(std::int64_t height, std::int64_t width, std::int64_t channels = 3) {
  Picture out = blank(height, width, channels);
  for (std::int64_t y = 0; y < height; ++y)
    for (std::int64_t x = 0; x < width; ++x)
      for (std::int64_t c = 0; c < channels; ++c) {
        const auto fx = static_cast<double>(x), fy = static_cast<double>(y);
        double value = 128 + 50 * std::sin(fx / 9 + static_cast<double>(c)) + 40 * std::cos(fy / 5);
        if ((x / 16 + y / 16 + c) % 5 == 0) value = 250 - value / 2;
        value +=
            static_cast<double>(mix64(static_cast<std::uint64_t>((y * width + x) * 4 + c)) % 16);
        out.at(y, x, c) = static_cast<std::uint8_t>(std::min(std::max(value, 0.0), 255.0));
      }
  return out;
}

/// Rows and columns [y, y + height) x [x, x + width).
inline Picture part_of(const Picture& in, std::int64_t y, std::int64_t x, std::int64_t height,
                       std::int64_t width) {
  Picture out = blank(height, width, in.channels);
  for (std::int64_t row = 0; row < height; ++row)
    std::memcpy(&out.at(row, 0, 0),
                &in.bytes[static_cast<std::size_t>(((y + row) * in.width + x) * in.channels)],
                static_cast<std::size_t>(width * in.channels));
  return out;
}

/// One channel of it, in three.
inline Picture channel_of(const Picture& in, std::int64_t channel) {
  Picture out = blank(in.height, in.width);
  for (std::int64_t y = 0; y < in.height; ++y)
    for (std::int64_t x = 0; x < in.width; ++x)
      std::memset(&out.at(y, x, 0), in.at(y, x, channel), 3);
  return out;
}

inline Picture picture_of(const Pixels& pixels) {
  Picture out = blank(pixels.height, pixels.width, pixels.channels);
  for (std::int64_t y = 0; y < pixels.height; ++y)
    std::memcpy(&out.at(y, 0, 0), pixels.data + y * pixels.stride,
                static_cast<std::size_t>(pixels.width * pixels.channels));
  return out;
}

struct JpegOptions {
  int quality = 90;
  int horizontal = 2;  ///< chroma subsampling: 2 x 2 is 4:2:0
  int vertical = 2;
  bool progressive = false;
  bool arithmetic = false;
  bool optimize = false;        ///< Huffman codes of its own, up to 16 bits long
  bool separate_scans = false;  ///< one after another, not interleaved
  bool unrefined = false;       ///< progressive, without the last bits of any coefficient
  bool adobe_cmyk = false;      ///< of pictures with 4 channels
  bool ycck = false;            ///< of those, too: stored as luma, chroma and black
  int orientation = 0;          ///< of an EXIF segment; 0: none
  int restart = 0;              ///< restart markers every so many blocks
};

inline std::string exif_segment(int orientation) {
  std::string tiff{"II\x2a\0\x08\0\0\0\x01\0\x12\x01\x03\0\x01\0\0\0", 18};
  tiff += static_cast<char>(orientation);
  tiff += std::string(7, '\0');
  return std::string("Exif\0\0", 6) + tiff;
}

/// 1 channel is gray, 3 are RGB, 4 CMYK.
inline std::string write_jpeg(const Picture& picture, const JpegOptions& options = {}) {
  jpeg_compress_struct jpeg{};
  jpeg_error_mgr errors;
  jpeg.err = jpeg_std_error(&errors);
  jpeg_create_compress(&jpeg);
  unsigned char* data = nullptr;
  unsigned long size = 0;
  jpeg_mem_dest(&jpeg, &data, &size);
  jpeg.image_height = static_cast<JDIMENSION>(picture.height);
  jpeg.image_width = static_cast<JDIMENSION>(picture.width);
  jpeg.input_components = static_cast<int>(picture.channels);
  jpeg.in_color_space = picture.channels == 1   ? JCS_GRAYSCALE
                        : picture.channels == 3 ? JCS_RGB
                                                : JCS_CMYK;
  jpeg_set_defaults(&jpeg);
  jpeg_set_quality(&jpeg, options.quality, TRUE);
  if (picture.channels == 3) {
    jpeg.comp_info[0].h_samp_factor = options.horizontal;
    jpeg.comp_info[0].v_samp_factor = options.vertical;
  }
  if (options.ycck) jpeg_set_colorspace(&jpeg, JCS_YCCK);
  if (picture.channels == 4) jpeg.write_Adobe_marker = options.adobe_cmyk;
  if (options.progressive) jpeg_simple_progression(&jpeg);
  jpeg.arith_code = options.arithmetic;
  jpeg.optimize_coding = options.optimize;
  const jpeg_scan_info scans[] = {
      {1, {0}, 0, 63, 0, 0}, {1, {1}, 0, 63, 0, 0}, {1, {2}, 0, 63, 0, 0}};
  if (options.separate_scans) {
    jpeg.scan_info = scans;
    jpeg.num_scans = static_cast<int>(picture.channels);
  }
  const jpeg_scan_info coarse[] = {
      {3, {0, 1, 2}, 0, 0, 0, 1}, {1, {0}, 1, 63, 0, 2}, {1, {1}, 1, 63, 0, 2}};
  if (options.unrefined) {
    jpeg.scan_info = coarse;
    jpeg.num_scans = 3;
  }
  jpeg.restart_interval = static_cast<unsigned>(options.restart);
  jpeg_start_compress(&jpeg, TRUE);
  if (options.orientation > 0) {
    const std::string segment = exif_segment(options.orientation);
    jpeg_write_marker(&jpeg, JPEG_APP0 + 1, reinterpret_cast<const JOCTET*>(segment.data()),
                      static_cast<unsigned>(segment.size()));
  }
  while (jpeg.next_scanline < jpeg.image_height) {
    auto* row = const_cast<JSAMPROW>(
        &picture.bytes[jpeg.next_scanline *
                       static_cast<std::size_t>(picture.width * picture.channels)]);
    jpeg_write_scanlines(&jpeg, &row, 1);
  }
  jpeg_finish_compress(&jpeg);
  jpeg_destroy_compress(&jpeg);
  std::string out(reinterpret_cast<char*>(data), size);
  free(data);
  return out;
}

struct PngOptions {
  int bits =
      8;  ///< of a sample; 16 are two bytes, the higher first, taken from `bytes` as they lie
  int color_type = PNG_COLOR_TYPE_RGB;
  bool interlaced = false;
  std::vector<png_color> palette = {};
  int transparent = -1;               ///< a gray value, or one of all three channels
  std::vector<png_byte> alphas = {};  ///< of the palette's first entries
  int orientation = 0;
};

/// `chunk` are packed as PNG has them.
inline std::string write_png(std::int64_t height, std::int64_t width,
                             const std::vector<std::uint8_t>& rows, const PngOptions& options) {
  std::string out;
  png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, nullptr, nullptr, nullptr);
  png_infop info = png_create_info_struct(png);
  png_set_write_fn(
      png, &out,
      [](png_structp to, png_bytep data, std::size_t size) {
        static_cast<std::string*>(png_get_io_ptr(to))->append(reinterpret_cast<char*>(data), size);
      },
      nullptr);
  png_set_IHDR(png, info, static_cast<png_uint_32>(width), static_cast<png_uint_32>(height),
               options.bits, options.color_type,
               options.interlaced ? PNG_INTERLACE_ADAM7 : PNG_INTERLACE_NONE,
               PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
  if (!options.palette.empty())
    png_set_PLTE(png, info, options.palette.data(), static_cast<int>(options.palette.size()));
  if (options.transparent >= 0) {
    const auto value = static_cast<png_uint_16>(options.transparent);
    const png_color_16 color{0, value, value, value, value};
    png_set_tRNS(png, info, nullptr, 0, &color);
  }
  if (!options.alphas.empty())
    png_set_tRNS(png, info, options.alphas.data(), static_cast<int>(options.alphas.size()),
                 nullptr);
  std::string tiff;
  if (options.orientation > 0) {
    tiff = exif_segment(options.orientation).substr(6);
    png_set_eXIf_1(png, info, static_cast<png_uint_32>(tiff.size()),
                   reinterpret_cast<png_bytep>(tiff.data()));
  }
  const std::size_t stride = rows.size() / static_cast<std::size_t>(height);
  std::vector<png_bytep> pointers;
  for (std::int64_t y = 0; y < height; ++y)
    pointers.push_back(const_cast<png_bytep>(rows.data()) + static_cast<std::size_t>(y) * stride);
  png_set_rows(png, info, pointers.data());
  png_write_png(png, info, PNG_TRANSFORM_IDENTITY, nullptr);
  png_destroy_write_struct(&png, &info);
  return out;
}

inline std::string write_png(const Picture& picture, PngOptions options = {}) {
  return write_png(picture.height, picture.width, picture.bytes, options);
}

}  // namespace brigade::testing_support
