#pragma once

// Memory for one image after another: it grows, is kept between images,
// and is uninitialized at first. The memory of a large image is returned,
// so that one large image does not keep the process large. One thread.

#include <cstddef>
#include <cstdint>
#include <memory>

namespace brigade {

/// Of one buffer: a picture of 22 million pixels. More than malloc keeps, which maps what is above
/// 32 MiB by itself and unmaps it at once.
inline constexpr std::size_t kKeptBytesMax = std::size_t{64} << 20;

class PictureBytes {
 public:
  /// The memory; what was in it is gone where it has to grow.
  std::uint8_t* at_least(std::size_t bytes) {
    if (bytes <= capacity_) return bytes_.get();
    clear();  // before there are two, and so that nothing is claimed if there is too little
    bytes_ = std::make_unique_for_overwrite<std::uint8_t[]>(bytes);
    capacity_ = bytes;
    return bytes_.get();
  }
  /// Nothing of it is needed any more.
  void give_back() {
    if (capacity_ > kKeptBytesMax) clear();
  }
  std::size_t capacity() const { return capacity_; }

 private:
  void clear() {
    capacity_ = 0;
    bytes_.reset();
  }

  std::unique_ptr<std::uint8_t[]> bytes_;
  std::size_t capacity_ = 0;
};

}  // namespace brigade
