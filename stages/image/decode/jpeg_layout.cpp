#include "stages/image/decode/jpeg_layout.h"

#include <dlfcn.h>

#include <csetjmp>
#include <cstdint>
#include <cstdlib>
#include <string_view>
#include <vector>

#include <jerror.h>

#include "base/log.h"
#include "stages/image/decode/jpeg_huffman.h"

namespace brigade {
namespace {

constexpr JDIMENSION kSide = 40;  // of the picture: several MCUs, some of them at the edge
constexpr std::size_t kSamples = std::size_t{kSide} * kSide * 3;

/// Frames below it are plain: libjpeg's errors jump over them.
struct Errors {
  jpeg_error_mgr manager;  // first: libjpeg's pointer to it is one to this
  std::jmp_buf jump;
};

jpeg_error_mgr* prepare(Errors& errors) {
  jpeg_std_error(&errors.manager);
  errors.manager.error_exit = [](j_common_ptr info) {
    std::longjmp(reinterpret_cast<Errors*>(info->err)->jump, 1);
  };
  errors.manager.emit_message = [](j_common_ptr, int) {};
  return &errors.manager;
}

bool is_of_libjpeg(void* function) {
  Dl_info one{}, other{};
  void* const known = reinterpret_cast<void*>(&jpeg_read_scanlines);
  return function != nullptr && dladdr(function, &one) != 0 && dladdr(known, &other) != 0 &&
         one.dli_fbase == other.dli_fbase;
}

/// Every coefficient of it is different.
void write_picture(unsigned char*& file, unsigned long& bytes) {
  Errors errors;
  jpeg_compress_struct jpeg{};
  jpeg.err = prepare(errors);
  if (setjmp(errors.jump) == 0) {
    jpeg_create_compress(&jpeg);
    jpeg_mem_dest(&jpeg, &file, &bytes);
    jpeg.image_width = jpeg.image_height = kSide;
    jpeg.input_components = 3;
    jpeg.in_color_space = JCS_RGB;
    jpeg_set_defaults(&jpeg);
    jpeg_start_compress(&jpeg, TRUE);
    std::uint32_t random = 1;
    while (jpeg.next_scanline < kSide) {
      JSAMPLE row[kSide * 3];
      for (JSAMPLE& sample : row)  // Numerical Recipes, ranqd1
        sample = static_cast<JSAMPLE>((random = random * 1664525 + 1013904223) >> 24);
      JSAMPROW rows = row;
      jpeg_write_scanlines(&jpeg, &rows, 1);
    }
    jpeg_finish_compress(&jpeg);
  }
  jpeg_destroy_compress(&jpeg);
}

/// `done` stays false where it could not be read, or `huffman` was not asked for a block.
void read_picture(const unsigned char* file, unsigned long bytes, JSAMPLE* picture,
                  JpegHuffman* huffman, std::size_t at, bool& done) {
  Errors errors;
  jpeg_decompress_struct jpeg{};
  jpeg.err = prepare(errors);
  if (setjmp(errors.jump) == 0) {
    jpeg_create_decompress(&jpeg);
    jpeg_mem_src(&jpeg, file, bytes);
    jpeg_read_header(&jpeg, TRUE);
    jpeg_start_decompress(&jpeg);
    DecodeMcu* const found = huffman == nullptr ? nullptr : find_decode_mcu(jpeg, at);
    if (found != nullptr) huffman->start(jpeg, found, 0, kSide);
    while (jpeg.output_scanline < kSide) {
      JSAMPROW row = picture + std::size_t{jpeg.output_scanline} * kSide * 3;
      jpeg_read_scanlines(&jpeg, &row, 1);
    }
    done = huffman == nullptr || (found != nullptr && huffman->has_decoded());
  }
  jpeg_destroy_decompress(&jpeg);
}

bool is_known_version() {
#if defined(LIBJPEG_TURBO_VERSION_NUMBER) && LIBJPEG_TURBO_VERSION_NUMBER >= 2000000 && \
    LIBJPEG_TURBO_VERSION_NUMBER < 4000000
  Errors errors;
  prepare(errors);
  const std::string_view copyright = errors.manager.jpeg_message_table[JMSG_COPYRIGHT];
  return copyright.find("libjpeg-turbo") != copyright.npos;
#else
  return false;
#endif
}

}  // namespace

DecodeMcu* find_decode_mcu(jpeg_decompress_struct& jpeg, std::size_t at) {
  void** const pointers = reinterpret_cast<void**>(jpeg.entropy);
  if (pointers == nullptr || !is_of_libjpeg(pointers[at])) return nullptr;
  return reinterpret_cast<DecodeMcu*>(pointers + at);
}

bool try_jpeg_layout(std::size_t at) {
  if (!is_known_version()) return false;
  unsigned char* file = nullptr;
  unsigned long bytes = 0;
  write_picture(file, bytes);
  std::vector<JSAMPLE> plain(kSamples), ours(kSamples, 1);
  JpegHuffman huffman;
  bool by_libjpeg = false, by_ours = false;
  read_picture(file, bytes, plain.data(), nullptr, at, by_libjpeg);
  read_picture(file, bytes, ours.data(), &huffman, at, by_ours);
  std::free(file);
  return by_libjpeg && by_ours && plain == ours;
}

bool jpeg_layout_fits() {
  static const bool fits = [] {
    const bool found = try_jpeg_layout(kDecodeMcuAt);
    if (!found)
      log_warning(
          "JPEG decoding is slower: the installed libjpeg is not a supported libjpeg-turbo; "
          "install libjpeg-turbo 2.0 to 3.x");
    return found;
  }();
  return fits;
}

}  // namespace brigade
