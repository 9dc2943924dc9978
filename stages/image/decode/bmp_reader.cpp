#include <bit>
#include <cstring>

#include <brigade/text.h>
#include "stages/image/decode/byte_order.h"
#include "stages/image/decode/image_reader.h"
#include "stages/image/decode/picture_bytes.h"

namespace brigade {
namespace {

constexpr std::int64_t kChannels = 3;
constexpr std::size_t kFileHeaderBytes = 14;
constexpr std::uint32_t kCoreBytes = 12, kInfoBytes = 40, kMasksBytes = 52, kLongestBytes = 124;
constexpr std::uint32_t kPlain = 0, kMasked = 3;  // compressions
constexpr std::size_t kMasksAt = kFileHeaderBytes + kInfoBytes;

/// Where a color lies in a pixel of 16 or 32 bits.
struct Mask {
  std::uint32_t bits = 0;

  bool good() const {
    const std::uint32_t low = bits >> (bits == 0 ? 0 : std::countr_zero(bits));
    return low != 0 && low < 256 && std::has_single_bit(low + 1);
  }
  std::uint8_t of(std::uint32_t pixel) const {
    const int shift = std::countr_zero(bits);
    return static_cast<std::uint8_t>(((pixel & bits) >> shift) * 255 / (bits >> shift));
  }
};

/// Rows from the bottom up, or not; each a multiple of four bytes; blue first.
class BmpReader : public ImageReader {
 public:
  Result<ImageHeader> open(std::string_view bytes, Channels) override {
    bytes_ = bytes;
    BRIGADE_TRY(read_sizes());
    if (height_ <= 0 || width_ <= 0) return damaged("it has no rows or no columns");
    BRIGADE_TRY(read_colors());
    const std::uint64_t stride = (static_cast<std::uint64_t>(width_) * bits_ + 31) / 32 * 4;
    stride_ = static_cast<std::int64_t>(stride);
    const std::size_t begin = number(10, 4);
    if (begin < kFileHeaderBytes + header_bytes_ + (bits_ <= 8 ? 1 : 0))
      return damaged("its pixel data overlaps its header or palette");
    pixels_at_ = static_cast<std::int64_t>(begin);
    const std::uint64_t left = bytes.size() > begin ? bytes.size() - begin : 0;
    if (left / stride < static_cast<std::uint64_t>(height_))
      return Error{concat("the BMP data ends too early: ", bytes.size(), " bytes cannot hold ",
                          width_, " x ", height_, " pixels")};
    return ImageHeader{height_, width_, 1};
  }

  Result<Pixels> read(const Box& box) override {
    const std::int64_t stride = box.width * kChannels;
    std::uint8_t* const out = pixels_.at_least(static_cast<std::size_t>(stride * box.height));
    for (std::int64_t y = 0; y < box.height; ++y) {
      const std::int64_t row = box.y + y;
      const std::int64_t stored = from_bottom_ ? height_ - 1 - row : row;
      const auto at = static_cast<std::size_t>(pixels_at_ + stored * stride_);
      for (std::int64_t x = 0; x < box.width; ++x)
        take(at, static_cast<std::size_t>(box.x + x), out + y * stride + x * kChannels);
    }
    return Pixels{out, stride, box.height, box.width};
  }

  void give_back() override { pixels_.give_back(); }

 private:
  static Error damaged(std::string_view why) {
    return Error{concat("the BMP data cannot be read: ", why)};
  }
  std::uint32_t number(std::size_t at, std::size_t size) const {
    return number_at(bytes_, at, size, false);
  }

  Result<void> read_sizes() {
    header_bytes_ = number(kFileHeaderBytes, 4);
    const bool core = header_bytes_ == kCoreBytes;
    if (!core && (header_bytes_ < kInfoBytes || header_bytes_ > kLongestBytes))
      return damaged(concat("its header has ", header_bytes_, " bytes"));
    if (core) {
      width_ = number(18, 2);
      height_ = number(20, 2);
      bits_ = number(24, 2);
      compression_ = kPlain;
    } else {
      width_ = static_cast<std::int32_t>(number(18, 4));
      height_ = static_cast<std::int32_t>(number(22, 4));
      bits_ = number(28, 2);
      compression_ = number(30, 4);
    }
    from_bottom_ = height_ >= 0;
    height_ = from_bottom_ ? height_ : -height_;
    return {};
  }

  Result<void> read_colors() {
    const bool few = bits_ == 1 || bits_ == 4 || bits_ == 8;
    const bool masked = compression_ == kMasked && (bits_ == 16 || bits_ == 32);
    const bool plain = compression_ == kPlain && (few || bits_ == 16 || bits_ == 24 || bits_ == 32);
    if (!masked && !plain)
      return Error{concat("it is a BMP file of an unsupported kind (", bits_, " bits, compression ",
                          compression_,
                          "); expected a palette or uncompressed 16, 24 or 32 bits per pixel; "
                          "convert the file to PNG")};
    if (few) return read_palette();
    masks_[0] = {bits_ == 16 ? 0x7c00U : 0xff0000U};
    masks_[1] = {bits_ == 16 ? 0x03e0U : 0x00ff00U};
    masks_[2] = {bits_ == 16 ? 0x001fU : 0x0000ffU};
    for (std::size_t c = 0; masked && c < 3; ++c) {
      masks_[c] = {number(kMasksAt + 4 * c, 4)};
      if (!masks_[c].good())
        return Error{
            "it is a BMP file of an unsupported kind: each color mask must have 1 to 8 bits; "
            "convert the file to PNG"};
    }
    return {};
  }

  Result<void> read_palette() {
    const bool core = header_bytes_ == kCoreBytes;
    const std::size_t entry_bytes = core ? 3 : 4;
    const std::uint32_t all = 1U << bits_;
    const std::uint32_t said = core ? 0 : number(46, 4);
    const std::uint32_t entries = said == 0 ? all : said;
    if (entries > all) return damaged(concat("its palette has ", entries, " colors"));
    std::memset(palette_, 0, sizeof palette_);  // what is not in it is black
    const std::size_t begin = kFileHeaderBytes + header_bytes_;
    for (std::size_t i = 0; i < entries; ++i)
      for (std::size_t c = 0; c < 3; ++c)
        palette_[i][c] = static_cast<std::uint8_t>(number(begin + i * entry_bytes + (2 - c), 1));
    return {};
  }

  void take(std::size_t row_at, std::size_t x, std::uint8_t* to) const {
    if (bits_ <= 8) {
      const std::size_t bit = x * bits_;
      const auto byte = static_cast<std::uint8_t>(bytes_[row_at + bit / 8]);
      std::memcpy(to, palette_[byte >> (8 - bits_ - bit % 8) & ((1U << bits_) - 1)], 3);
    } else if (bits_ == 24) {
      for (std::size_t c = 0; c < 3; ++c)
        to[c] = static_cast<std::uint8_t>(bytes_[row_at + 3 * x + 2 - c]);
    } else {
      const std::uint32_t pixel = number(row_at + x * bits_ / 8, bits_ / 8);
      for (std::size_t c = 0; c < 3; ++c) to[c] = masks_[c].of(pixel);
    }
  }

  std::string_view bytes_;
  std::uint32_t header_bytes_ = 0, bits_ = 0, compression_ = 0;
  std::int64_t height_ = 0, width_ = 0, stride_ = 0;
  std::int64_t pixels_at_ = 0;
  bool from_bottom_ = true;
  Mask masks_[3];
  std::uint8_t palette_[256][3] = {};
  PictureBytes pixels_;
};

}  // namespace

std::unique_ptr<ImageReader> make_bmp_reader() { return std::make_unique<BmpReader>(); }

}  // namespace brigade
