#include "stages/image/decode/jpeg_huffman.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

#include <jerror.h>

namespace brigade {
namespace {

/// Where the coefficients of the zigzag lie in a block; further ones of damaged files at its end.
constexpr std::uint8_t kNaturalOrder[DCTSIZE2 + 16] = {
    0,  1,  8,  16, 9,  2,  3,  10, 17, 24, 32, 25, 18, 11, 4,  5,  12, 19, 26, 33,
    40, 48, 41, 34, 27, 20, 13, 6,  7,  14, 21, 28, 35, 42, 49, 56, 57, 50, 43, 36,
    29, 22, 15, 23, 30, 37, 44, 51, 58, 59, 52, 45, 38, 31, 39, 46, 53, 60, 61, 54,
    47, 55, 62, 63, 63, 63, 63, 63, 63, 63, 63, 63, 63, 63, 63, 63, 63, 63, 63, 63};

constexpr int kWordBits = 64;
constexpr int kSymbolBitsMax = 16 + 15;
constexpr std::ptrdiff_t kPieceBytes = 16 << 10;
// Ten blocks of codes of the longest kind, and what a refill reads ahead.
constexpr std::ptrdiff_t kMcuBytesMax = D_MAX_BLOCKS_IN_MCU * DCTSIZE2 * kSymbolBitsMax / 8 + 16;
static_assert(kMcuBytesMax < kPieceBytes);

/// The value whose bits come next: of `bits` bits, those with a first bit of 0 are negative.
inline std::int32_t value_of(std::uint64_t next, int bits) {
  const auto negative = static_cast<std::int32_t>(~static_cast<std::int64_t>(next) >> 63);
  const auto value = static_cast<std::int32_t>(next >> (kWordBits - bits));
  return value + (negative & (1 - (1 << bits)));
}

}  // namespace

// --- bits -------------------------------------------------------------------------------------

/// To at least 56 valid bits (Giesen, "Reading bits in far too many ways", 2018, variant 4).
[[gnu::always_inline]] inline void JpegHuffman::Bits::refill() {
  std::uint64_t word;
  std::memcpy(&word, at, sizeof word);
  if constexpr (std::endian::native == std::endian::little) word = __builtin_bswap64(word);
  next |= word >> count;
  at += (kWordBits - 1 - count) >> 3;
  count |= kWordBits - 8;
}

/// Makes the piece at least one MCU long, if there is as much.
[[gnu::noinline]] void JpegHuffman::fetch() {
  const std::ptrdiff_t left = std::max<std::ptrdiff_t>(piece_end_ - bits_.at, 0);
  std::uint8_t* to = piece_.data();
  std::memmove(to, bits_.at, static_cast<std::size_t>(left));
  to += left;
  piece_begin_ += bits_.at - piece_.data();
  bits_.at = piece_.data();
  std::uint8_t* const full = piece_.data() + std::exchange(piece_want_, kPieceBytes);
  while (to < full && !at_marker_) {
    const auto size = static_cast<std::size_t>(std::min(full - to, source_end_ - source_));
    const void* const found = size > 0 ? std::memchr(source_, 0xff, size) : nullptr;
    const auto* const stop =
        found != nullptr ? static_cast<const std::uint8_t*>(found) : source_ + size;
    to = std::copy(source_, stop, to);
    source_ = stop;
    if (source_ == source_end_) at_marker_ = true;
    if (found == nullptr) continue;
    const std::uint8_t* behind = source_ + 1;
    while (behind < source_end_ && *behind == 0xff) ++behind;  // one 0xff, as libjpeg reads them
    at_marker_ = behind == source_end_ || *behind != 0;
    if (at_marker_) break;
    *to++ = 0xff;
    source_ = behind + 1;
  }
  piece_end_ = to;
  std::fill_n(to, kMcuBytesMax, std::uint8_t{0});
}

/// More bits were used than there are.
bool JpegHuffman::overdrawn() const { return bits_.at - bits_.count / 8 > piece_end_; }

// --- blocks -----------------------------------------------------------------------------------

// These return false for a code that does not exist.

[[gnu::always_inline]] inline bool JpegHuffman::decode_dc(Bits& bits, const Table& dc,
                                                          std::uint32_t& last_dc) {
  if (bits.count < kSymbolBitsMax) bits.refill();
  Symbol symbol = dc.look[bits.next >> (kWordBits - kLookBits)];
  if (symbol.bits == 0) symbol = dc.find_long(bits.next);
  if (symbol.bits == 0) return false;
  if (symbol.value_bits > 0)
    last_dc +=
        static_cast<std::uint32_t>(value_of(bits.next << symbol.code_bits, symbol.value_bits));
  bits.drop(symbol.bits);
  return true;
}

/// One code and its value; `k` is the coefficient's number and then that of the next one. At least
/// 31 valid bits.
[[gnu::always_inline]] inline JpegHuffman::Step JpegHuffman::decode_ac(Bits& bits, const Table& ac,
                                                                       std::size_t& k,
                                                                       std::int16_t* block) {
  Symbol symbol = ac.look[bits.next >> (kWordBits - kLookBits)];
  if (symbol.value_bits == 0) [[unlikely]] {
    if (symbol.bits == 0) symbol = ac.find_long(bits.next);
    if (symbol.bits == 0) return Step::no_code;
    if (symbol.value_bits == 0) {
      bits.drop(symbol.bits);
      if (symbol.run != kRunOfZeros) return Step::block_ends;
      k += kRunOfZeros + 1;
      return Step::goes_on;
    }
  }
  k += symbol.run;
  block[kNaturalOrder[k]] =
      static_cast<std::int16_t>(value_of(bits.next << symbol.code_bits, symbol.value_bits));
  ++k;
  bits.drop(symbol.bits);
  return Step::goes_on;
}

[[gnu::always_inline]] inline bool JpegHuffman::decode_block(Bits& bits, const Table& dc,
                                                             const Table& ac,
                                                             std::uint32_t& last_dc,
                                                             std::int16_t* block) {
  if (!decode_dc(bits, dc, last_dc)) return false;
  block[0] = static_cast<std::int16_t>(last_dc);
  for (std::size_t k = 1; k < DCTSIZE2;) {
    // A refill for two, without a condition that could be guessed wrong.
    bits.refill();
    Step step = decode_ac(bits, ac, k, block);
    if (step != Step::goes_on) return step == Step::block_ends;
    if (k >= DCTSIZE2) break;
    if (bits.count < kSymbolBitsMax) [[unlikely]]
      bits.refill();
    step = decode_ac(bits, ac, k, block);
    if (step != Step::goes_on) return step == Step::block_ends;
  }
  return true;
}

[[gnu::always_inline]] inline bool JpegHuffman::pass_block(Bits& bits, const Table& dc,
                                                           const Table& ac,
                                                           std::uint32_t& last_dc) {
  if (!decode_dc(bits, dc, last_dc)) return false;
  for (int k = 1; k < DCTSIZE2;) {
    bits.refill();
    const Symbols symbols = ac.pass[bits.next >> (kWordBits - kLookBits)];
    if (symbols.bits > 0 && k + symbols.steps <= DCTSIZE2) [[likely]] {
      bits.drop(symbols.bits);
      if (symbols.end) break;
      k += symbols.steps;
      continue;
    }
    Symbol symbol = ac.look[bits.next >> (kWordBits - kLookBits)];
    if (symbol.bits == 0) symbol = ac.find_long(bits.next);
    if (symbol.bits == 0) return false;
    bits.drop(symbol.bits);
    if (symbol.value_bits == 0 && symbol.run != kRunOfZeros) break;
    k += symbol.run + 1;
  }
  return true;
}

[[gnu::always_inline]] inline bool JpegHuffman::decode(j_decompress_ptr jpeg, JBLOCKROW* blocks) {
  const bool keep = blocks != nullptr && column_ >= first_ && column_ <= last_;
  if (++column_ == columns_) column_ = 0;
  const std::int64_t mcu = mcu_++;
  if (!keep && mcu < known_) return true;
  if (at_ != mcu && !go_to(jpeg, mcu)) return false;
  return read_mcu(jpeg, blocks, keep);
}

/// The one that comes next.
[[gnu::always_inline]] inline bool JpegHuffman::read_mcu(j_decompress_ptr jpeg, JBLOCKROW* blocks,
                                                         bool keep) {
  if (restart_every_ > 0 && restart_in_-- == 0 && !restart(jpeg)) return false;
  if (at_ == note_at_) note_entry();
  ++at_;
  if (piece_end_ - bits_.at < kMcuBytesMax && !at_marker_) fetch();
  Bits bits = bits_;  // in registers
  for (int i = 0; i < blocks_; ++i) {
    const auto n = static_cast<std::size_t>(i);
    std::uint32_t& last_dc = last_dc_[block_component_[n]];
    const bool good = keep ? decode_block(bits, *block_dc_[n], *block_ac_[n], last_dc, blocks[i][0])
                           : pass_block(bits, *block_dc_[n], *block_ac_[n], last_dc);
    if (good) continue;
    // Of zeros that were made up: the data ended before.
    bits_ = bits;
    warn(jpeg, overdrawn() ? at_end() : JWRN_HUFF_BAD_CODE);
    return false;
  }
  bits_ = bits;
  if (!overdrawn()) return true;
  warn(jpeg, at_end());
  return false;
}

/// To an MCU behind the one that comes next: from the last entry before it on.
[[gnu::noinline]] bool JpegHuffman::go_to(j_decompress_ptr jpeg, std::int64_t mcu) {
  const std::size_t row = static_cast<std::size_t>(mcu / columns_);
  const std::size_t entry =
      std::min(row * entries_per_row_ +
                   static_cast<std::size_t>(mcu % columns_ / JpegPositions::kEntryEvery),
               positions_->entries.size() - 1);
  if (mcu_of(entry) > at_) enter(entry);
  while (at_ < mcu)
    if (!read_mcu(jpeg, nullptr, false)) return false;
  return true;
}

void JpegHuffman::enter(std::size_t entry) {
  const JpegEntry& from = positions_->entries[entry];
  at_ = mcu_of(entry);
  source_ = scan_ +
            std::min<std::uint64_t>(from.bits / 8, static_cast<std::uint64_t>(source_end_ - scan_));
  for (std::size_t i = 0; i < from.last_dc.size(); ++i)
    last_dc_[i] = static_cast<std::uint32_t>(std::int32_t{from.last_dc[i]});
  if (restart_every_ > 0) {
    restart_in_ = restart_every_ - at_ % restart_every_;
    restart_number_ = static_cast<int>(at_ / restart_every_ % 8);
  }
  begin_segment();
  // No more than up to the entry behind the columns that are needed.
  const std::size_t stop = entries_before(at_ - at_ % columns_ + last_ + 1);
  if (stop < positions_->entries.size()) {
    const std::uint64_t end = positions_->entries[stop].bits;
    const std::uint64_t bytes = end > from.bits ? (end - from.bits) / 8 : 0;
    piece_want_ =
        std::min(static_cast<std::ptrdiff_t>(bytes), kPieceBytes - kMcuBytesMax) + kMcuBytesMax;
  }
  fetch();
  bits_.refill();
  bits_.drop(static_cast<int>(from.bits % 8));
}

int JpegHuffman::at_end() const {
  return source_end_ - source_ <= 1 ? JWRN_JPEG_EOF : JWRN_HIT_MARKER;
}

/// To behind the restart marker that must come now.
[[gnu::noinline]] bool JpegHuffman::restart(j_decompress_ptr jpeg) {
  while (!at_marker_) {
    bits_ = {0, 0, piece_end_};
    fetch();
  }
  while (source_end_ - source_ >= 2 && source_[1] == 0xff) ++source_;
  if (source_end_ - source_ < 2) {
    warn(jpeg, JWRN_JPEG_EOF);
    return false;
  }
  if (source_[1] != JPEG_RST0 + restart_number_) {
    jpeg->err->msg_parm.i[0] = source_[1];
    jpeg->err->msg_parm.i[1] = restart_number_;
    warn(jpeg, JWRN_MUST_RESYNC);
    return false;
  }
  source_ += 2;
  restart_number_ = (restart_number_ + 1) % 8;
  restart_in_ = restart_every_ - 1;
  last_dc_.fill(0);
  begin_segment();
  return true;
}

void JpegHuffman::begin_segment() {
  at_marker_ = false;
  mark_ = source_;
  mark_at_ = piece_begin_ = 0;
  piece_.resize(kPieceBytes + kMcuBytesMax);
  piece_end_ = piece_.data();
  piece_want_ = kPieceBytes;
  bits_ = {0, 0, piece_.data()};
}

[[gnu::noinline]] void JpegHuffman::warn(j_decompress_ptr jpeg, int code) {
  damaged_ = true;
  jpeg->err->msg_code = code;
  jpeg->err->emit_message(reinterpret_cast<j_common_ptr>(jpeg), -1);
}

boolean JpegHuffman::decode_mcu(j_decompress_ptr jpeg, JBLOCKROW* blocks) {
  auto& self = *static_cast<JpegHuffman*>(jpeg->client_data);
  if (!self.damaged_) self.decode(jpeg, blocks);  // afterwards all is gray, as in libjpeg
  return TRUE;
}

#if defined(__x86_64__)
/// The same with instructions that shift by any register: a twentieth faster.
[[gnu::target("bmi2")]] boolean JpegHuffman::decode_mcu_bmi2(j_decompress_ptr jpeg,
                                                             JBLOCKROW* blocks) {
  auto& self = *static_cast<JpegHuffman*>(jpeg->client_data);
  if (!self.damaged_) self.decode(jpeg, blocks);
  return TRUE;
}
#endif

// --- taking over ------------------------------------------------------------------------------

JpegHuffman::JpegHuffman([[maybe_unused]] bool fast) {
#if defined(__x86_64__)
  if (fast && __builtin_cpu_supports("bmi2")) decode_mcu_ = decode_mcu_bmi2;
#endif
}

bool JpegHuffman::starts_in(jpeg_decompress_struct& jpeg) {
  return !jpeg.progressive_mode && !jpeg.arith_code && jpeg.data_precision == 8 &&
         !jpeg_has_multiple_scans(&jpeg) && jpeg.comps_in_scan == jpeg.num_components &&
         jpeg_layout_fits();
}

void JpegHuffman::start(jpeg_decompress_struct& jpeg, std::int64_t first, std::int64_t last,
                        JpegPositions* positions) {
  start(jpeg, find_decode_mcu(jpeg), first, last, positions);
}

void JpegHuffman::start(jpeg_decompress_struct& jpeg, DecodeMcu* instead_of, std::int64_t first,
                        std::int64_t last, JpegPositions* positions) {
  for (int i = 0; i < jpeg.comps_in_scan; ++i) {
    const jpeg_component_info& component = *jpeg.cur_comp_info[i];
    dc_[static_cast<std::size_t>(component.dc_tbl_no)].make(
        *jpeg.dc_huff_tbl_ptrs[component.dc_tbl_no]);
    ac_[static_cast<std::size_t>(component.ac_tbl_no)].make(
        *jpeg.ac_huff_tbl_ptrs[component.ac_tbl_no]);
  }
  blocks_ = jpeg.blocks_in_MCU;
  for (int i = 0; i < blocks_; ++i) {
    const int place = jpeg.MCU_membership[i];
    const jpeg_component_info& component = *jpeg.cur_comp_info[place];
    const auto n = static_cast<std::size_t>(i);
    block_component_[n] = static_cast<std::uint8_t>(place);
    block_dc_[n] = &dc_[static_cast<std::size_t>(component.dc_tbl_no)];
    block_ac_[n] = &ac_[static_cast<std::size_t>(component.ac_tbl_no)];
  }
  last_dc_.fill(0);
  source_ = jpeg.src->next_input_byte;
  source_end_ = source_ + jpeg.src->bytes_in_buffer;
  begin_segment();
  scan_ = source_;
  mcu_ = at_ = column_ = 0;
  columns_ = jpeg.MCUs_per_row;
  first_ = first;
  last_ = last;
  restart_every_ = restart_in_ = jpeg.restart_interval;
  restart_number_ = 0;
  damaged_ = false;
  jpeg.client_data = this;
  *instead_of = decode_mcu_;
  entries_per_row_ = static_cast<std::size_t>((columns_ - 1) / JpegPositions::kEntryEvery + 1);
  positions_ = jpeg.comps_in_scan <= JpegPositions::kComponentsMax ? positions : nullptr;
  known_ = 0;
  note_at_ = kNever;
  if (positions_ == nullptr) return;
  if (positions_->entries.size() != entries_before(positions_->known)) *positions_ = {};
  known_ = positions_->known;
  // Memory now: a failure could not pass through libjpeg.
  positions_->entries.reserve(entries_per_row_ * jpeg.MCU_rows_in_scan);
  note_at_ = mcu_of(positions_->entries.size());
}

}  // namespace brigade
