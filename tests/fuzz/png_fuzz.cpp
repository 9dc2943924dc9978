// Bytes as a PNG file: an error in one line, or pixels; and where libpng reads all of it at once,
// with transforms and rows of its own choice, the same ones. And as a mask: an error, or numbers.

#include <png.h>

#include <csetjmp>
#include <cstring>

#include "tests/fuzz/image_reading.h"

namespace brigade {
namespace {

constexpr int kToRgb = PNG_TRANSFORM_EXPAND | PNG_TRANSFORM_SCALE_16 | PNG_TRANSFORM_STRIP_ALPHA |
                       PNG_TRANSFORM_GRAY_TO_RGB;

void give_bytes(png_structp png, png_bytep out, std::size_t size) {
  auto& left = *static_cast<std::string_view*>(png_get_io_ptr(png));
  if (size > left.size()) png_error(png, "the end");
  std::memcpy(out, left.data(), size);
  left.remove_prefix(size);
}

/// libpng's way to fail is a jump, over nothing that owns.
[[noreturn]] void fail(png_structp png, png_const_charp) { png_longjmp(png, 1); }

void compare(std::string_view file, const Pixels& pixels) {
  png_structp png = png_create_read_struct(PNG_LIBPNG_VER_STRING, nullptr, fail,
                                           [](png_structp, png_const_charp) {});
  png_infop info = png_create_info_struct(png);
  if (setjmp(png_jmpbuf(png)) == 0) {
    png_set_read_fn(png, &file, give_bytes);
    // libpng makes room for as much eXIf as a chunk says it has, limit or not.
    png_set_keep_unknown_chunks(png, PNG_HANDLE_CHUNK_NEVER, nullptr, -1);
    png_set_chunk_malloc_max(png, fuzzing::kBytesMax);
    png_read_png(png, info, kToRgb, nullptr);
    png_bytepp rows = png_get_rows(png, info);
    for (std::int64_t y = 0; y < pixels.height; ++y) fuzzing::check_row(pixels, y, rows[y]);
  }
  png_destroy_read_struct(&png, &info, nullptr);
}

void read_mask(std::string_view file) {
  static const auto reader = make_mask_reader();
  for (const bool whole : {false, true}) {
    const auto header = reader->open(file);
    if (!header) return fuzzing::check_error(header.error());
    if (header->height > fuzzing::kPixelsMax / header->width) return;
    const auto pixels = reader->read(fuzzing::box_of(file, *header, whole));
    if (!pixels) {
      fuzzing::check_error(pixels.error());
      continue;
    }
    std::uint64_t sum = 0;
    for (std::int64_t y = 0; y < pixels->height; ++y)
      for (std::int64_t x = 0; x < pixels->width; ++x) sum += pixels->data[y * pixels->stride + x];
    BRIGADE_CHECK(sum <= 255u * static_cast<std::uint64_t>(pixels->height * pixels->width), sum);
  }
}

}  // namespace

void fuzz(std::string_view file) {
  if (file.size() > fuzzing::kBytesMax) return;
  read_mask(file);
  static const auto reader = make_png_reader();
  if (const auto pixels = fuzzing::read_image(*reader, file)) compare(file, *pixels);
}

}  // namespace brigade
