#pragma once

// Decodes the Huffman codes of a baseline JPEG file in place of libjpeg-turbo, in which
// they take two thirds of the time: with one table look-up per coefficient, which gives
// the length of code and value at once, so that the next look-up need not wait for the
// value; with eight bytes per refill; and without values where the image is cropped.
// Everything else is done by libjpeg-turbo. The coefficients are the same to the bit; a
// file that ends early or has a code that does not exist gets libjpeg's own warnings;
// bytes that no code needs before a restart marker are passed over, as there.
//
// libjpeg-turbo has no interface for this. It calls its decoder through a pointer in a private
// structure (jpeg_layout.h); starts_in() says whether this is such a library and such a file: one
// scan, sequential, Huffman. All others are left to libjpeg.
//
// One thread. Call order, per image: jpeg_start_decompress, jpeg_crop_scanline, then
//
//   starts_in() start()        before the first row is read or skipped; the source is a
//                              jpeg_mem_src, client_data is this object's until the next image

#include <array>
#include <cstdint>
#include <cstdio>  // jpeglib.h needs FILE, which it does not include
#include <vector>

#include <jpeglib.h>

#include "stages/image/decode/jpeg_layout.h"
#include "stages/image/decode/jpeg_positions.h"

namespace brigade {

class JpegHuffman {
 public:
  /// fast: with the instructions that this processor has. They make no difference to the result.
  explicit JpegHuffman(bool fast = true);

  static bool starts_in(jpeg_decompress_struct& jpeg);

  /// Takes over. Values are decoded for the columns [first, last] of minimum coded units (MCU).
  /// `positions`: of this file, at most three components; the decoder enters it there, and adds
  /// what it comes to know. Null: there are none.
  void start(jpeg_decompress_struct& jpeg, std::int64_t first, std::int64_t last,
             JpegPositions* positions = nullptr);
  /// In place of that function.
  void start(jpeg_decompress_struct& jpeg, DecodeMcu* instead_of, std::int64_t first,
             std::int64_t last, JpegPositions* positions = nullptr);
  /// After the last row that is read: the positions hold what was read. Whether they grew; not
  /// where something was damaged.
  bool finish_positions();
  /// Since start().
  bool has_decoded() const { return bits_.at != piece_.data(); }

 private:
  static constexpr int kLookBits = 10;
  static constexpr int kCodeBitsMax = 16;
  static constexpr int kRunOfZeros = 15;  // with no value: 16 zeros; any other run ends the block
  static constexpr std::int64_t kNever = -1;

  /// What the next bits mean: a code, and the bits of the value that follow it.
  struct Symbol {
    std::uint8_t bits = 0;  ///< of both; 0: a longer code, or none
    std::uint8_t code_bits = 0;
    std::uint8_t run = 0;  ///< zeros before the value
    std::uint8_t value_bits = 0;
  };

  /// As many of these as have their codes in the next bits: what to pass over.
  struct Symbols {
    std::uint8_t bits = 0;   ///< of all; 0: a longer code, or none
    std::uint8_t steps = 0;  ///< coefficients, with one for the end of the block
    bool end = false;        ///< of the block
  };

  struct Table {
    std::array<Symbol, 1 << kLookBits> look{};
    std::array<Symbols, 1 << kLookBits> pass{};
    // Canonical codes: those of n bits are below limit[n], which is aligned to 16 bits, and their
    // values are found from the code on by offset[n].
    std::array<std::uint32_t, kCodeBitsMax + 1> limit{};
    std::array<std::int32_t, kCodeBitsMax + 1> offset{};
    JHUFF_TBL source{};  ///< what it was made of
    bool made = false;

    void make(const JHUFF_TBL& from);
    Symbol find_long(std::uint64_t next) const;
    Symbols symbols_in(std::uint32_t look_bits) const;
  };

  /// The next bits, the first one highest, and where those behind them lie. What lies behind the
  /// valid ones in `next` is nothing else than what follows.
  struct Bits {
    std::uint64_t next = 0;
    int count = 0;  ///< valid ones
    const std::uint8_t* at = nullptr;

    void refill();
    void drop(int bits) {
      next <<= bits;
      count -= bits;
    }
  };

  enum class Step : std::uint8_t { goes_on, block_ends, no_code };

  static boolean decode_mcu(j_decompress_ptr jpeg, JBLOCKROW* blocks);
#if defined(__x86_64__)
  static boolean decode_mcu_bmi2(j_decompress_ptr jpeg, JBLOCKROW* blocks);
#endif
  bool decode(j_decompress_ptr jpeg, JBLOCKROW* blocks);
  bool read_mcu(j_decompress_ptr jpeg, JBLOCKROW* blocks, bool keep);
  bool go_to(j_decompress_ptr jpeg, std::int64_t mcu);
  void enter(std::size_t entry);
  void note_entry();
  std::uint64_t bits_before();
  std::int64_t mcu_of(std::size_t entry) const;
  std::size_t entries_before(std::int64_t mcus) const;
  static bool decode_block(Bits& bits, const Table& dc, const Table& ac, std::uint32_t& last_dc,
                           std::int16_t* block);
  static bool pass_block(Bits& bits, const Table& dc, const Table& ac, std::uint32_t& last_dc);
  static bool decode_dc(Bits& bits, const Table& dc, std::uint32_t& last_dc);
  static Step decode_ac(Bits& bits, const Table& ac, std::size_t& k, std::int16_t* block);
  void fetch();
  bool overdrawn() const;
  bool restart(j_decompress_ptr jpeg);
  void begin_segment();
  int at_end() const;
  void warn(j_decompress_ptr jpeg, int code);

  // The file, and a piece of it without what is stuffed in, up to a marker; zeros behind it.
  const std::uint8_t* source_ = nullptr;
  const std::uint8_t* source_end_ = nullptr;
  std::vector<std::uint8_t> piece_;
  const std::uint8_t* piece_end_ = nullptr;
  std::ptrdiff_t piece_want_ = 0;  // bytes of codes that the next fetch() brings
  bool at_marker_ = false;         ///< or at the end of the file: the piece is the last one
  Bits bits_;
  std::array<Table, NUM_HUFF_TBLS> dc_, ac_;
  std::array<const Table*, D_MAX_BLOCKS_IN_MCU> block_dc_{}, block_ac_{};
  std::array<std::uint8_t, D_MAX_BLOCKS_IN_MCU> block_component_{};
  std::array<std::uint32_t, MAX_COMPS_IN_SCAN> last_dc_{};
  int blocks_ = 0;
  std::int64_t column_ = 0, columns_ = 0, first_ = 0, last_ = 0;  // of MCUs
  std::int64_t restart_every_ = 0, restart_in_ = 0;               // MCUs; 0: no restarts
  int restart_number_ = 0;
  bool damaged_ = false;
  DecodeMcu decode_mcu_ = decode_mcu;

  // MCUs in the order of the file: that which libjpeg asks for next, and that which comes next in
  // `bits_`. They differ where known ones are jumped over.
  std::int64_t mcu_ = 0, at_ = 0;
  JpegPositions* positions_ = nullptr;
  std::int64_t known_ = 0;         // of them, when the file began
  std::int64_t note_at_ = kNever;  // the first MCU that should have an entry and has none
  std::size_t entries_per_row_ = 0;
  const std::uint8_t* scan_ = nullptr;  // the first byte of the file's codes
  // In a segment between restart markers: bytes of codes before the piece, and a place in the file
  // with the bytes of codes before it, which follows behind.
  std::int64_t piece_begin_ = 0, mark_at_ = 0;
  const std::uint8_t* mark_ = nullptr;
};

}  // namespace brigade
