// What a decode notes for later ones: where it was.

#include <cstring>

#include "stages/image/decode/jpeg_huffman.h"

namespace brigade {

std::int64_t JpegHuffman::mcu_of(std::size_t entry) const {
  return static_cast<std::int64_t>(entry / entries_per_row_) * columns_ +
         static_cast<std::int64_t>(entry % entries_per_row_) * JpegPositions::kEntryEvery;
}

/// Those of the first MCUs.
std::size_t JpegHuffman::entries_before(std::int64_t mcus) const {
  constexpr std::int64_t kEvery = JpegPositions::kEntryEvery;
  return static_cast<std::size_t>(mcus / columns_) * entries_per_row_ +
         static_cast<std::size_t>((mcus % columns_ + kEvery - 1) / kEvery);
}

/// Before the MCU that comes next, which is the first without an entry.
[[gnu::noinline]] void JpegHuffman::note_entry() {
  JpegEntry entry{bits_before(), {}};
  for (std::size_t i = 0; i < entry.last_dc.size(); ++i) {
    const auto last_dc = static_cast<std::int32_t>(last_dc_[i]);
    entry.last_dc[i] = static_cast<std::int16_t>(last_dc);
    if (entry.last_dc[i] == last_dc) continue;
    positions_ = nullptr;  // no picture has such values
    note_at_ = kNever;
    return;
  }
  positions_->entries.push_back(entry);
  note_at_ = mcu_of(positions_->entries.size());
}

/// Of the file, from the scan's first byte to the next code.
std::uint64_t JpegHuffman::bits_before() {
  const std::int64_t bits = 8 * (piece_begin_ + (bits_.at - piece_.data())) - bits_.count;
  for (std::int64_t left = bits / 8 - mark_at_; left > 0;) {
    const void* const found = std::memchr(mark_, 0xff, static_cast<std::size_t>(left));
    const auto* const stop =
        found != nullptr ? static_cast<const std::uint8_t*>(found) : mark_ + left;
    left -= stop - mark_;
    mark_ = stop;
    if (found == nullptr) break;
    while (mark_[1] == 0xff) ++mark_;
    mark_ += 2;
    --left;
  }
  mark_at_ = bits / 8;
  return 8 * static_cast<std::uint64_t>(mark_ - scan_) + static_cast<std::uint64_t>(bits % 8);
}

bool JpegHuffman::finish_positions() {
  if (positions_ == nullptr || damaged_ || at_ <= known_) return false;
  positions_->known = at_;
  return true;
}

}  // namespace brigade
