#pragma once

// The image that the operations of `augment` pass to each other: u8 [height, width, channels],
// rows without gaps. An operation asks for the place of the image and of its result:
//
//   const std::uint8_t* const from = canvas.pixels();
//   std::uint8_t* const to = canvas.same_size();     // or other(size); from now on pixels() is
//   `to`
//
// The first image is the stage's input and is only read. Results
// alternate between the stage's output and memory that is kept between
// samples, so that no operation copies for the next. An operation that
// moves pixels records how, for the targets of the image. One thread.

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "stages/image/geometry/picture_move.h"

namespace brigade {

inline constexpr std::int64_t kGreyChannels = 1;
inline constexpr std::int64_t kRgbChannels = 3;
/// Of what an operation makes: a larger picture is refused before memory is taken for it.
inline constexpr std::int64_t kPictureSideMax = 16384;
inline constexpr std::int64_t kPicturePixelsMax = std::int64_t{64} << 20;

class Canvas {
 public:
  /// `slot`: memory of the stage's output, where results may lie on the way; null: there is none.
  void begin(const std::uint8_t* picture, PictureSize size, std::int64_t channels,
             std::uint8_t* slot, std::size_t slot_bytes) {
    pixels_ = picture;
    size_ = size;
    channels_ = channels;
    slot_ = slot;
    slot_bytes_ = slot_bytes;
    written_ = nullptr;
    moves_.clear();
  }

  const std::uint8_t* pixels() const { return pixels_; }
  PictureSize size() const { return size_; }
  std::int64_t channels() const { return channels_; }
  std::int64_t row_bytes() const { return size_.width * channels_; }
  std::int64_t bytes() const { return size_.pixels() * channels_; }

  /// For operations that read a pixel before they write it, and nothing else: may be pixels().
  std::uint8_t* same_size() { return written_ != nullptr ? written_ : other(size_); }

  /// The picture itself, to write into some of it: the input is copied first.
  std::uint8_t* writable() {
    if (written_ != nullptr) return written_;
    const std::uint8_t* const from = pixels_;
    return static_cast<std::uint8_t*>(
        std::memcpy(other(size_), from, static_cast<std::size_t>(bytes())));
  }

  /// For all others: memory for a picture of this size, apart from pixels(). What it holds is not
  /// known.
  std::uint8_t* other(PictureSize size) {
    const auto needed = static_cast<std::size_t>(size.pixels() * channels_);
    std::uint8_t* to = slot_;
    if (to == nullptr || written_ == slot_ || needed > slot_bytes_) {
      auto& memory = written_ != nullptr && written_ == memory_[0].data() ? memory_[1] : memory_[0];
      if (memory.size() < needed) memory = std::vector<std::uint8_t>(needed);
      to = memory.data();
    }
    written_ = to;
    pixels_ = to;
    size_ = size;
    return to;
  }

  /// Before the operation asks for memory of another size. `from` is size().
  void note(PictureMove move) {
    move.from = size_;
    moves_.push_back(move);
  }
  /// Since begin(), one after another.
  const std::vector<PictureMove>& moves() const { return moves_; }

 private:
  const std::uint8_t* pixels_ = nullptr;
  PictureSize size_;
  std::int64_t channels_ = 0;
  std::uint8_t* slot_ = nullptr;
  std::size_t slot_bytes_ = 0;
  std::uint8_t* written_ = nullptr;  // pixels_, unless that is the input
  std::vector<std::uint8_t> memory_[2];
  std::vector<PictureMove> moves_;
};

}  // namespace brigade
