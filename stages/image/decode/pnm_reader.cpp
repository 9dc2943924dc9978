#include <cstring>

#include <brigade/text.h>
#include "stages/image/decode/image_reader.h"
#include "stages/image/decode/picture_bytes.h"

namespace brigade {
namespace {

constexpr int kColors = 3;
constexpr std::int64_t kNumberMax = 1 << 30;
constexpr std::int64_t kLevelsMax = 65535;

bool is_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

/// "P", a digit, width, height, the level that is white (but for bits), and the samples: of P1 to
/// P3 as texts, of P4 to P6 as bytes. Bits of 1 are black.
class PnmReader : public ImageReader {
 public:
  Result<ImageHeader> open(std::string_view bytes, Channels channels) override {
    bytes_ = bytes;
    at_ = 2;
    const int kind = bytes[1] - '0';
    texts_ = kind <= 3;
    bits_ = kind == 1 || kind == 4;
    samples_ = kind == 3 || kind == 6 ? 3 : 1;
    std::int64_t* const numbers[] = {&width_, &height_, &white_};
    white_ = 1;
    for (std::size_t i = 0; i < (bits_ ? 2U : 3U); ++i) {
      BRIGADE_ASSIGN(*numbers[i], next_number());
      if (*numbers[i] < 1) return damaged("a size in its header is 0");
    }
    if (white_ > kLevelsMax) return damaged(concat("its largest level is ", white_));
    ++at_;  // one space
    const std::int64_t row_samples = width_ * samples_;
    stride_ = bits_ ? (width_ + 7) / 8 : row_samples * (white_ > 255 ? 2 : 1);
    const std::uint64_t left = bytes.size() > at_ ? bytes.size() - at_ : 0;
    const std::int64_t row_bytes = texts_ ? row_samples : stride_;
    if (left / static_cast<std::uint64_t>(row_bytes) < static_cast<std::uint64_t>(height_))
      return Error{concat("the PNM data ends too early: ", bytes.size(), " bytes cannot hold ",
                          width_, " x ", height_, " pixels")};
    channels_ = channels == Channels::stored ? samples_ : kColors;
    return ImageHeader{height_, width_, 1, 0, channels_};
  }

  Result<Pixels> read(const Box& box) override {
    const std::int64_t stride = box.width * channels_;
    std::uint8_t* const out = pixels_.at_least(static_cast<std::size_t>(stride * box.height));
    for (std::int64_t y = 0; y < box.y + box.height; ++y)
      for (std::int64_t x = 0; x < width_; ++x) {
        const bool wanted = y >= box.y && x >= box.x && x < box.x + box.width;
        if (!wanted && !texts_) continue;
        std::uint8_t* const to = out + (y - box.y) * stride + (x - box.x) * channels_;
        for (std::int64_t c = 0; c < samples_; ++c) {
          BRIGADE_ASSIGN(const std::uint8_t level, level_at(y, x * samples_ + c));
          if (wanted)
            std::memset(to + c, level, samples_ == 1 ? static_cast<std::size_t>(channels_) : 1);
        }
      }
    return Pixels{out, stride, box.height, box.width, channels_};
  }

  void give_back() override { pixels_.give_back(); }

 private:
  static Error damaged(std::string_view why) {
    return Error{concat("the PNM data cannot be read: ", why)};
  }

  /// To the next text, over spaces and comments.
  Result<void> skip() {
    for (; at_ < bytes_.size(); ++at_) {
      if (bytes_[at_] == '#')
        at_ = std::min(bytes_.find('\n', at_), bytes_.size() - 1);
      else if (!is_space(bytes_[at_]))
        return {};
    }
    return Error{"the PNM data ends too early"};
  }

  Result<std::int64_t> next_number() {
    BRIGADE_TRY(skip());
    std::int64_t value = 0;
    const std::size_t begin = at_;
    for (; at_ < bytes_.size() && bytes_[at_] >= '0' && bytes_[at_] <= '9'; ++at_) {
      value = value * 10 + (bytes_[at_] - '0');
      if (value > kNumberMax) return damaged("a number is too large");
    }
    if (at_ == begin) return damaged("expected a number");
    return value;
  }

  /// Sample `at` of row `y`; of texts the next one.
  Result<std::uint8_t> level_at(std::int64_t y, std::int64_t at) {
    if (texts_ && bits_) {
      BRIGADE_TRY(skip());
      const char bit = bytes_[at_++];
      if (bit != '0' && bit != '1') return damaged("expected 0 or 1");
      return bit == '0' ? 255 : 0;
    }
    if (texts_) {
      BRIGADE_ASSIGN(const std::int64_t value, next_number());
      return scaled(value);
    }
    const auto* const row =
        reinterpret_cast<const std::uint8_t*>(bytes_.data()) + at_ + y * stride_;
    if (bits_) return (row[at / 8] >> (7 - at % 8) & 1) != 0 ? 0 : 255;
    return scaled(white_ > 255 ? row[2 * at] << 8 | row[2 * at + 1] : row[at]);
  }

  /// To the nearest of 255 levels; of two the even one.
  Result<std::uint8_t> scaled(std::int64_t value) const {
    if (value > white_) return damaged(concat("a level is ", value, ", expected at most ", white_));
    const std::int64_t twice = 2 * value * 255 + white_;
    std::int64_t level = twice / (2 * white_);
    if (twice % (2 * white_) == 0 && level % 2 != 0 && white_ % 2 == 0) --level;
    return static_cast<std::uint8_t>(level);
  }

  std::string_view bytes_;
  std::size_t at_ = 0;
  bool texts_ = false, bits_ = false;
  int samples_ = 1, channels_ = kColors;
  std::int64_t height_ = 0, width_ = 0, white_ = 1, stride_ = 0;
  PictureBytes pixels_;
};

}  // namespace

std::unique_ptr<ImageReader> make_pnm_reader() { return std::make_unique<PnmReader>(); }

}  // namespace brigade
