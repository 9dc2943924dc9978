// Huffman codes as look-ups.

#include <algorithm>
#include <cstring>

#include "stages/image/decode/jpeg_huffman.h"

namespace brigade {
namespace {

constexpr int kWordBits = 64;

}  // namespace

void JpegHuffman::Table::make(const JHUFF_TBL& from) {
  if (made && std::memcmp(from.bits, source.bits, sizeof from.bits) == 0 &&
      std::memcmp(from.huffval, source.huffval, sizeof from.huffval) == 0)
    return;
  source = from;
  made = true;
  look.fill({});
  std::uint32_t code = 0;
  std::int32_t index = 0;
  for (int bits = 1; bits <= kCodeBitsMax; ++bits, code <<= 1) {
    offset[static_cast<std::size_t>(bits)] = index - static_cast<std::int32_t>(code);
    for (int i = 0; i < from.bits[bits]; ++i, ++code, ++index) {
      if (bits > kLookBits) continue;
      const std::uint8_t symbol = from.huffval[index];
      const auto value_bits = static_cast<std::uint8_t>(symbol & 15);
      const Symbol entry{static_cast<std::uint8_t>(bits + value_bits),
                         static_cast<std::uint8_t>(bits), static_cast<std::uint8_t>(symbol >> 4),
                         value_bits};
      const std::size_t begin = std::size_t{code} << (kLookBits - bits);
      std::fill_n(look.begin() + static_cast<std::ptrdiff_t>(begin),
                  std::size_t{1} << (kLookBits - bits), entry);
    }
    limit[static_cast<std::size_t>(bits)] = code << (kCodeBitsMax - bits);
  }
  for (std::uint32_t i = 0; i < pass.size(); ++i) pass[i] = symbols_in(i);
}

/// What a run of AC codes is that begins with these bits.
JpegHuffman::Symbols JpegHuffman::Table::symbols_in(std::uint32_t look_bits) const {
  Symbols all;
  while (all.bits < kLookBits) {
    const std::uint32_t left = look_bits << all.bits & ((1U << kLookBits) - 1);
    const Symbol symbol = look[left];
    if (symbol.bits == 0 || all.bits + symbol.code_bits > kLookBits) break;
    all.bits = static_cast<std::uint8_t>(all.bits + symbol.bits);
    all.end = symbol.value_bits == 0 && symbol.run != kRunOfZeros;
    all.steps = static_cast<std::uint8_t>(all.steps + (all.end ? 1 : symbol.run + 1));
    if (all.end) break;
  }
  return all;
}

/// A code that is longer than the look-up; bits 0 where there is none.
[[gnu::noinline]] JpegHuffman::Symbol JpegHuffman::Table::find_long(std::uint64_t next) const {
  const auto code = static_cast<std::uint32_t>(next >> (kWordBits - kCodeBitsMax));
  for (int bits = kLookBits + 1; bits <= kCodeBitsMax; ++bits) {
    const auto n = static_cast<std::size_t>(bits);
    if (code >= limit[n]) continue;
    const auto index = static_cast<std::int32_t>(code >> (kCodeBitsMax - bits)) + offset[n];
    const std::uint8_t symbol = source.huffval[index & 255];
    const auto value_bits = static_cast<std::uint8_t>(symbol & 15);
    return {static_cast<std::uint8_t>(bits + value_bits), static_cast<std::uint8_t>(bits),
            static_cast<std::uint8_t>(symbol >> 4), value_bits};
  }
  return {};
}

}  // namespace brigade
