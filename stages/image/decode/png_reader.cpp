#include <png.h>

#include <algorithm>
#include <csetjmp>
#include <cstring>

#include <brigade/text.h>
#include "stages/image/decode/exif.h"
#include "stages/image/decode/image_reader.h"
#include "stages/image/decode/picture_bytes.h"

namespace brigade {
namespace {

constexpr int kColors = 3;
constexpr std::size_t kErrorBytes = 128;
constexpr png_alloc_size_t kChunkBytesMax = 8 << 20;
/// What deflate makes of one byte at most (https://zlib.net/zlib_tech.html).
constexpr std::uint64_t kDeflateRatioMax = 1032;

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
  /// `numbers`: one channel, of numbers as they are stored.
  explicit PngReader(bool numbers) : numbers_(numbers) {}
  ~PngReader() override { png_destroy_read_struct(&png_, &info_, nullptr); }

  Result<ImageHeader> open(std::string_view bytes, Channels channels) override {
    png_destroy_read_struct(&png_, &info_, nullptr);
    input_ = {bytes};
    png_ = png_create_read_struct(PNG_LIBPNG_VER_STRING, &input_, fail, say_nothing);
    if (png_ != nullptr) info_ = png_create_info_struct(png_);
    if (info_ == nullptr) return Error{"libpng does not start; check the free memory"};
    ImageHeader header;
    if (!guarded([&] { header = read_header(); })) return broken();
    if (numbers_) BRIGADE_TRY(check_numbers());
    stored_ = channels == Channels::stored;
    header.channels = channels_ = count_channels();
    const std::uint64_t row_bytes = png_get_rowbytes(png_, info_);
    if (row_bytes * png_get_image_height(png_, info_) / kDeflateRatioMax > bytes.size())
      return Error{concat("the PNG data ends too early: ", bytes.size(), " bytes cannot hold ",
                          header.width, " x ", header.height, " pixels")};
    return header;
  }

  Result<Pixels> read(const Box& box) override {
    const std::int64_t width = png_get_image_width(png_, info_);
    const bool interlaced = png_get_interlace_type(png_, info_) != PNG_INTERLACE_NONE;
    // All rows of an interlaced image come in turns; else one at a time is enough.
    const std::int64_t height = interlaced ? png_get_image_height(png_, info_) : box.height;
    const std::int64_t stride = width * channels_;
    std::uint8_t* const rows =
        rows_.at_least(static_cast<std::size_t>(stride * (interlaced ? height : 1)));
    std::uint8_t* const pixels =
        interlaced ? nullptr
                   : pixels_.at_least(static_cast<std::size_t>(box.width * channels_ * box.height));
    const bool good = guarded([&] {
      set_transforms();
      interlaced ? read_turns(rows, height, stride) : read_box(rows, box, pixels);
    });
    if (!good) return broken();
    if (!interlaced) return Pixels{pixels, box.width * channels_, box.height, box.width, channels_};
    return Pixels{rows + box.y * stride + box.x * channels_, stride, box.height, box.width,
                  channels_};
  }

  void give_back() override {
    rows_.give_back();
    pixels_.give_back();
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

  ImageHeader read_header() {
    png_set_read_fn(png_, &input_, give_bytes);
    // Texts, profiles and the like, of which libpng makes room for as much as they say they have.
    png_set_keep_unknown_chunks(png_, PNG_HANDLE_CHUNK_NEVER, nullptr, -1);
    png_set_chunk_malloc_max(png_, kChunkBytesMax);
    png_read_info(png_, info_);
    return {png_get_image_height(png_, info_), png_get_image_width(png_, info_),
            png_orientation(input_.bytes)};
  }

  Result<void> check_numbers() const {
    if ((png_get_color_type(png_, info_) & PNG_COLOR_MASK_COLOR) != 0 &&
        png_get_color_type(png_, info_) != PNG_COLOR_TYPE_PALETTE)
      return Error{
          "it is a color image; a mask must be gray or have a palette, one class per pixel"};
    if (png_get_bit_depth(png_, info_) > 8)
      return Error{"it has 16 bits per pixel; a mask has at most 8"};
    return {};
  }

  int count_channels() const {
    if (numbers_) return 1;
    const int type = png_get_color_type(png_, info_);
    if (!stored_ || type == PNG_COLOR_TYPE_PALETTE) return kColors;
    return ((type & PNG_COLOR_MASK_COLOR) != 0 ? kColors : 1) +
           ((type & PNG_COLOR_MASK_ALPHA) != 0 ? 1 : 0);
  }

  /// Gray levels and the numbers of colours stay numbers, one byte each.
  void keep_numbers() {
    png_set_packing(png_);
    png_set_strip_alpha(png_);
  }

  /// Whatever it is, to 8 bits. A color that stands for "transparent" stays a color. Alpha
  /// is stripped whatever it comes from: with the colors of a palette libpng makes it of tRNS, too.
  void make_colors() {
    const int type = png_get_color_type(png_, info_);
    if (type == PNG_COLOR_TYPE_PALETTE) png_set_palette_to_rgb(png_);
    if (type == PNG_COLOR_TYPE_GRAY) png_set_expand_gray_1_2_4_to_8(png_);
    png_set_scale_16(png_);
    if (!stored_ || type == PNG_COLOR_TYPE_PALETTE) png_set_strip_alpha(png_);
    if (!stored_ && (type & PNG_COLOR_MASK_COLOR) == 0) png_set_gray_to_rgb(png_);
  }

  void set_transforms() {
    numbers_ ? keep_numbers() : make_colors();
    turns_ = png_set_interlace_handling(png_);
    png_read_update_info(png_, info_);
    // libpng writes as many bytes as it says here, whatever the rows are made for.
    const std::size_t bytes = std::size_t{png_get_image_width(png_, info_)} * channels_;
    if (png_get_rowbytes(png_, info_) != bytes)
      png_error(png_, "its row size does not match its width");
  }

  void read_box(std::uint8_t* row, const Box& box, std::uint8_t* pixels) {
    const auto bytes = static_cast<std::size_t>(box.width * channels_);
    for (std::int64_t y = 0; y < box.y + box.height; ++y) {
      png_read_row(png_, row, nullptr);
      if (y < box.y) continue;
      std::memcpy(pixels + (y - box.y) * box.width * channels_, row + box.x * channels_, bytes);
    }
  }

  void read_turns(std::uint8_t* rows, std::int64_t height, std::int64_t stride) {
    for (int turn = 0; turn < turns_; ++turn)
      for (std::int64_t y = 0; y < height; ++y) png_read_row(png_, rows + y * stride, nullptr);
  }

  const bool numbers_;
  bool stored_ = false;
  int channels_ = kColors;
  PngInput input_;
  png_structp png_ = nullptr;
  png_infop info_ = nullptr;
  int turns_ = 1;
  PictureBytes rows_;
  PictureBytes pixels_;
};

}  // namespace

bool is_png(std::string_view bytes) { return bytes.starts_with("\x89PNG\r\n\x1a\n"); }

std::unique_ptr<ImageReader> make_png_reader() { return std::make_unique<PngReader>(false); }

std::unique_ptr<ImageReader> make_mask_reader() { return std::make_unique<PngReader>(true); }

}  // namespace brigade
