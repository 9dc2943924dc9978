#pragma once

// Moves a mask like its image, each pixel from the nearest place: no new values
// appear, except `fill` outside the image. Steps along the axes (crops, flips,
// resizes) are combined into one look-up per axis, which gives the same pixels
// as one step after another. One thread; memory is kept between samples.

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "stages/image/geometry/picture_move.h"

namespace brigade {

class MaskMover {
 public:
  /// `fill`: the bytes of a pixel, as many as each pixel of the mask has.
  explicit MaskMover(std::vector<std::byte> fill) : fill_(std::move(fill)) {}

  /// `from` has `size`; `to` has the size after the last move. They do not overlap.
  void run(const std::byte* from, PictureSize size, std::span<const PictureMove> moves,
           std::byte* to);

 private:
  void begin(const std::byte* from, PictureSize size);
  void warp(const PictureMove& move);
  template <class Places>
  void warp_by(const Places& places, PictureSize size, std::byte* to);
  void gather(std::byte* to) const;

  std::vector<std::byte> fill_;
  const std::byte* from_ = nullptr;
  PictureSize size_;
  std::vector<std::int64_t> rows_;  // of from_, for each row so far; -1: outside
  std::vector<std::int64_t> columns_;
  std::vector<std::int64_t> axis_;
  std::vector<std::byte> straight_;
  std::vector<std::byte> warped_;
};

}  // namespace brigade
