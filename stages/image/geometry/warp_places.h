#pragma once

// The place in the image of each pixel of a warp's result, from pixel center to pixel center,
// in float as torchvision computes it: the image and its mask look up the same places.

#include <cstdint>

#include "stages/image/geometry/picture_move.h"

namespace brigade {

struct PicturePlace {
  float row;
  float column;
};

class AffinePlaces {
 public:
  AffinePlaces(const AffineMatrix& matrix, PictureSize size)
      : height_(static_cast<float>(size.height)), width_(static_cast<float>(size.width)) {
    for (std::size_t i = 0; i < m_.size(); ++i) m_[i] = static_cast<float>(matrix[i]);
  }
  PicturePlace operator()(float y, float x) const {
    const float from_x = x + 0.5F - width_ * 0.5F;
    const float from_y = y + 0.5F - height_ * 0.5F;
    return {(m_[3] * from_x + m_[4] * from_y + m_[5]) + (height_ - 1) * 0.5F,
            (m_[0] * from_x + m_[1] * from_y + m_[2]) + (width_ - 1) * 0.5F};
  }

 private:
  std::array<float, 6> m_{};
  float height_;
  float width_;
};

class PerspectivePlaces {
 public:
  explicit PerspectivePlaces(const Perspective& coefficients) {
    for (std::size_t i = 0; i < m_.size(); ++i) m_[i] = static_cast<float>(coefficients[i]);
  }
  PicturePlace operator()(float y, float x) const {
    const float from_x = x + 0.5F;
    const float from_y = y + 0.5F;
    const float below = m_[6] * from_x + m_[7] * from_y + 1;
    return {(m_[3] * from_x + m_[4] * from_y + m_[5]) / below - 0.5F,
            (m_[0] * from_x + m_[1] * from_y + m_[2]) / below - 0.5F};
  }

 private:
  std::array<float, 8> m_{};
};

class FieldPlaceTable {
 public:
  explicit FieldPlaceTable(const PictureMove& move) : move_(move) {}
  PicturePlace operator()(float y, float x) const {
    const auto at = static_cast<std::size_t>(y) * static_cast<std::size_t>(move_.to.width) +
                    static_cast<std::size_t>(x);
    return {move_.rows[at], move_.columns[at]};
  }

 private:
  const PictureMove& move_;
};

/// Within a pixel of the picture; false far outside, where no integer could hold it, too.
inline bool is_near(PicturePlace place, PictureSize size) {
  return place.row > -1 && place.column > -1 && place.row < static_cast<float>(size.height) &&
         place.column < static_cast<float>(size.width);
}

/// Ties to the even number, for what is below 2^22 in size: adding so much leaves no bits below
/// one. By the processor's rounding, without a call.
inline float rounded_to_even(float value) {
  constexpr float kAnchor = 0x1.8p23F;
  return (value + kAnchor) - kAnchor;
}

/// The index of the pixel nearest to a place; -1: it is outside of the picture.
inline std::int64_t nearest_pixel(PicturePlace place, PictureSize size) {
  if (!is_near(place, size)) return -1;
  const auto row = static_cast<std::int64_t>(rounded_to_even(place.row));
  const auto column = static_cast<std::int64_t>(rounded_to_even(place.column));
  const bool inside = row >= 0 && column >= 0 && row < size.height && column < size.width;
  return inside ? row * size.width + column : -1;
}

}  // namespace brigade
