#include <png.h>

#include <algorithm>
#include <csetjmp>
#include <cstring>
#include <vector>

#include "base/text.h"
#include "stages/image/exif.h"
#include "stages/image/image_reader.h"

namespace brigade {
namespace {

constexpr std::int64_t kChannels = 3;
constexpr std::size_t kErrorBytes = 128;

/// What libpng reads from, and where it says what is wrong.
struct PngInput {
  std::string_view bytes;
  std::size_t at = 0;
  bool ended = false;
  char error[kErrorBytes] = "";
};

/// libpng's way to fail is a jump, over frames that must own nothing (see jpeg_reader.cpp).
[[noreturn]] void fail(png_structp png, png_const_charp text) {
  PngInput& input = *static_cast<PngInput*>(png_get_error_ptr(png));
  const std::size_t length = std::min(std::strlen(text), kErrorBytes - 1);
  std::copy_n(text, length, input.error);
  input.error[length] = 0;
  png_longjmp(png, 1);
}

void say_nothing(png_structp, png_const_charp) {}

void give_bytes(png_structp png, png_bytep out, std::size_t size) {
  PngInput& input = *static_cast<PngInput*>(png_get_io_ptr(png));
  if (size > input.bytes.size() - input.at) {
    input.ended = true;
    png_error(png, "the end");
  }
  std::memcpy(out, input.bytes.data() + input.at, size);
  input.at += size;
}

class PngReader : public ImageReader {
 public:
  ~PngReader() override { png_destroy_read_struct(&png_, &info_, nullptr); }

  Result<ImageHeader> open(std::string_view bytes) override {
    png_destroy_read_struct(&png_, &info_, nullptr);
    input_ = {bytes};
    png_ = png_create_read_struct(PNG_LIBPNG_VER_STRING, &input_, fail, say_nothing);
    if (png_ != nullptr) info_ = png_create_info_struct(png_);
    if (info_ == nullptr) return Error{"libpng does not start: too little memory?"};
    ImageHeader header;
    if (!guarded([&] { header = read_header(); })) return broken();
    return header;
  }

  Result<Pixels> read(const Box& box) override {
    const std::int64_t width = png_get_image_width(png_, info_);
    const bool interlaced = png_get_interlace_type(png_, info_) != PNG_INTERLACE_NONE;
    // All rows of an interlaced image come in turns; else one at a time is enough.
    const std::int64_t height = interlaced ? png_get_image_height(png_, info_) : box.height;
    reserve(rows_, width * kChannels * (interlaced ? height : 1));
    if (!interlaced) reserve(pixels_, box.width * kChannels * box.height);
    const bool good = guarded([&] {
      set_transforms();
      interlaced ? read_turns(height, width * kChannels) : read_box(box);
    });
    if (!good) return broken();
    if (!interlaced) return Pixels{pixels_.data(), box.width * kChannels, box.height, box.width};
    const std::int64_t stride = width * kChannels;
    return Pixels{rows_.data() + box.y * stride + box.x * kChannels, stride, box.height, box.width};
  }

 private:
  template <class Body>
  bool guarded(Body body) {
    if (setjmp(png_jmpbuf(png_)) != 0) return false;
    body();
    return true;
  }

  Error broken() const {
    if (input_.ended) return Error{"the PNG data ends too early"};
    return Error{concat("the PNG data cannot be read: ", input_.error)};
  }

  static void reserve(std::vector<std::uint8_t>& buffer, std::int64_t bytes) {
    if (buffer.size() < static_cast<std::size_t>(bytes))
      buffer.resize(static_cast<std::size_t>(bytes));
  }

  ImageHeader read_header() {
    png_set_read_fn(png_, &input_, give_bytes);
    png_read_info(png_, info_);
    ImageHeader header{png_get_image_height(png_, info_), png_get_image_width(png_, info_), 1};
    png_uint_32 bytes = 0;
    png_bytep exif = nullptr;
    if (png_get_eXIf_1(png_, info_, &bytes, &exif) != 0 && exif != nullptr)
      header.orientation = tiff_orientation({reinterpret_cast<const char*>(exif), bytes});
    return header;
  }

  /// Whatever it is, to 8 bits of RGB. A color that stands for "transparent" stays a color. Alpha
  /// is stripped whatever it comes from: with the colors of a palette libpng makes it of tRNS, too.
  void set_transforms() {
    const int type = png_get_color_type(png_, info_);
    if (type == PNG_COLOR_TYPE_PALETTE) png_set_palette_to_rgb(png_);
    if (type == PNG_COLOR_TYPE_GRAY) png_set_expand_gray_1_2_4_to_8(png_);
    png_set_scale_16(png_);
    png_set_strip_alpha(png_);
    if ((type & PNG_COLOR_MASK_COLOR) == 0) png_set_gray_to_rgb(png_);
    turns_ = png_set_interlace_handling(png_);
    png_read_update_info(png_, info_);
    // libpng writes as many bytes as it says here, whatever the rows are made for.
    const std::size_t bytes = std::size_t{png_get_image_width(png_, info_)} * kChannels;
    if (png_get_rowbytes(png_, info_) != bytes) png_error(png_, "its rows are not RGB");
  }

  void read_box(const Box& box) {
    const auto bytes = static_cast<std::size_t>(box.width * kChannels);
    for (std::int64_t y = 0; y < box.y + box.height; ++y) {
      png_read_row(png_, rows_.data(), nullptr);
      if (y < box.y) continue;
      std::memcpy(pixels_.data() + (y - box.y) * box.width * kChannels,
                  rows_.data() + box.x * kChannels, bytes);
    }
  }

  void read_turns(std::int64_t height, std::int64_t stride) {
    for (int turn = 0; turn < turns_; ++turn)
      for (std::int64_t y = 0; y < height; ++y)
        png_read_row(png_, rows_.data() + y * stride, nullptr);
  }

  PngInput input_;
  png_structp png_ = nullptr;
  png_infop info_ = nullptr;
  int turns_ = 1;
  std::vector<std::uint8_t> rows_;
  std::vector<std::uint8_t> pixels_;
};

}  // namespace

bool is_png(std::string_view bytes) { return bytes.starts_with("\x89PNG\r\n\x1a\n"); }

std::unique_ptr<ImageReader> make_png_reader() { return std::make_unique<PngReader>(); }

}  // namespace brigade
