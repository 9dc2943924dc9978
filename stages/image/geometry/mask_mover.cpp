#include "stages/image/geometry/mask_mover.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>

#include "stages/image/geometry/warp_places.h"

namespace brigade {
namespace {

void take_axis(std::vector<std::int64_t>& axis, std::vector<std::int64_t>& out, std::int64_t first,
               std::int64_t window, std::int64_t to) {
  const auto before = static_cast<std::int64_t>(axis.size());
  out.resize(static_cast<std::size_t>(to));
  for (std::int64_t i = 0; i < to; ++i) {
    const std::int64_t at = first + nearest_index(i, window, to);
    out[static_cast<std::size_t>(i)] =
        at < 0 || at >= before ? -1 : axis[static_cast<std::size_t>(at)];
  }
  axis.swap(out);
}

template <std::size_t kBytes>
void gather_row(const std::byte* row, const std::vector<std::int64_t>& columns,
                const std::byte* fill, std::byte* to) {
  for (const std::int64_t column : columns) {
    std::memcpy(to, column < 0 ? fill : row + static_cast<std::size_t>(column) * kBytes, kBytes);
    to += kBytes;
  }
}

}  // namespace

void MaskMover::begin(const std::byte* from, PictureSize size) {
  from_ = from;
  size_ = size;
  rows_.resize(static_cast<std::size_t>(size.height));
  columns_.resize(static_cast<std::size_t>(size.width));
  std::iota(rows_.begin(), rows_.end(), 0);
  std::iota(columns_.begin(), columns_.end(), 0);
}

void MaskMover::run(const std::byte* from, PictureSize size, std::span<const PictureMove> moves,
                    std::byte* to) {
  begin(from, size);
  for (const PictureMove& move : moves) {
    switch (move.kind) {
      case PictureMove::Kind::window:
        take_axis(rows_, axis_, move.y, move.window.height, move.to.height);
        take_axis(columns_, axis_, move.x, move.window.width, move.to.width);
        break;
      case PictureMove::Kind::flip_columns:
        std::reverse(columns_.begin(), columns_.end());
        break;
      case PictureMove::Kind::flip_rows:
        std::reverse(rows_.begin(), rows_.end());
        break;
      case PictureMove::Kind::affine:
      case PictureMove::Kind::perspective:
      case PictureMove::Kind::field:
        warp(move);
        break;
    }
  }
  gather(to);
}

void MaskMover::warp(const PictureMove& move) {
  const auto bytes = static_cast<std::size_t>(move.from.pixels()) * fill_.size();
  if (straight_.size() < bytes) straight_.resize(bytes);
  gather(straight_.data());
  if (warped_.size() < bytes) warped_.resize(bytes);
  if (move.kind == PictureMove::Kind::affine) {
    warp_by(AffinePlaces(move.affine, move.from), move.from, warped_.data());
  } else if (move.kind == PictureMove::Kind::field) {
    warp_by(FieldPlaceTable(move), move.from, warped_.data());
  } else {
    warp_by(PerspectivePlaces(move.perspective), move.from, warped_.data());
  }
  begin(warped_.data(), move.to);
}

template <class Places>
void MaskMover::warp_by(const Places& places, PictureSize size, std::byte* to) {
  for (std::int64_t y = 0; y < size.height; ++y)
    for (std::int64_t x = 0; x < size.width; ++x, to += fill_.size()) {
      const std::int64_t pixel =
          nearest_pixel(places(static_cast<float>(y), static_cast<float>(x)), size);
      const std::byte* const from =
          pixel < 0 ? fill_.data()
                    : straight_.data() + static_cast<std::size_t>(pixel) * fill_.size();
      std::memcpy(to, from, fill_.size());
    }
}

void MaskMover::gather(std::byte* to) const {
  const std::size_t pixel = fill_.size();
  const std::size_t stride = static_cast<std::size_t>(size_.width) * pixel;
  const std::vector<std::byte>& fill = fill_;
  for (const std::int64_t row : rows_) {
    const std::byte* const from =
        from_ + static_cast<std::size_t>(std::max<std::int64_t>(row, 0)) * stride;
    if (row < 0) {
      for (std::size_t x = 0; x < columns_.size(); ++x)
        std::memcpy(to + x * pixel, fill.data(), pixel);
    } else if (pixel == 1) {
      gather_row<1>(from, columns_, fill.data(), to);
    } else if (pixel == 4) {
      gather_row<4>(from, columns_, fill.data(), to);
    } else if (pixel == 8) {
      gather_row<8>(from, columns_, fill.data(), to);
    } else {
      for (std::size_t x = 0; x < columns_.size(); ++x)
        std::memcpy(
            to + x * pixel,
            columns_[x] < 0 ? fill.data() : from + static_cast<std::size_t>(columns_[x]) * pixel,
            pixel);
    }
    to += columns_.size() * pixel;
  }
}

}  // namespace brigade
