#include "stages/image/geometry/resample_kernels.h"

#include <algorithm>
#include <cstring>

#include "stages/image/geometry/processor_kernels.h"
#include "stages/image/geometry/resample.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace brigade {
namespace {

constexpr std::int64_t kChannels = 3;
constexpr std::int64_t kSlots = 4;  // of a pixel in a register: its channels and nothing
constexpr int kBits = AxisWeights::kBits;
constexpr int kRowBits = ResampleKernels::kRowBits;
constexpr int kShift = kBits + kRowBits;
constexpr std::int64_t kBlock = 64;
static_assert(AxisWeights::kBits - kRowBits == 7, "the products of add_rows are cut to 7 bits");

/// Where the weights of pixel `x` begin; those of its next pair are 4 * 8 further.
std::int64_t weights_at(std::int64_t x, std::int64_t pairs) {
  constexpr std::int64_t kPlaces[ColumnWeights::kGroup] = {0, 2, 1, 3};
  return (x / ColumnWeights::kGroup * pairs * ColumnWeights::kGroup +
          kPlaces[x % ColumnWeights::kGroup]) *
         2 * kSlots;
}
constexpr std::int64_t kPairStep = ColumnWeights::kGroup * 2 * kSlots;

// --- plain ------------------------------------------------------------------------------------

/// Adds up a block of columns. `size` is kBlock, as a constant, for all blocks but the last.
inline void add_block(const std::uint8_t* const* rows, const std::int16_t* weights,
                      std::int64_t taps, std::int64_t at, std::int64_t size, std::int16_t* out) {
  std::uint16_t sums[kBlock];
  for (std::int64_t i = 0; i < size; ++i) sums[i] = static_cast<std::uint16_t>(taps / 2);
  for (std::int64_t tap = 0; tap < taps; ++tap) {
    const std::uint8_t* const row = rows[tap] + at;
    const auto weight = static_cast<std::uint32_t>(weights[tap]);
    for (std::int64_t i = 0; i < size; ++i)
      sums[i] = static_cast<std::uint16_t>(sums[i] + (weight * row[i] >> (kBits - kRowBits)));
  }
  for (std::int64_t i = 0; i < size; ++i) out[at + i] = static_cast<std::int16_t>(sums[i]);
}

/// The same for so many rows that what each product loses would show.
void add_many_rows(const std::uint8_t* const* rows, const std::int16_t* weights, std::int64_t taps,
                   std::int64_t bytes, std::int16_t* out) {
  std::int32_t sums[kBlock];
  for (std::int64_t at = 0; at < bytes; at += kBlock) {
    const std::int64_t size = std::min(kBlock, bytes - at);
    std::fill_n(sums, size, 1 << (kBits - kRowBits - 1));
    for (std::int64_t tap = 0; tap < taps; ++tap) {
      const std::uint8_t* const row = rows[tap] + at;
      for (std::int64_t i = 0; i < size; ++i) sums[i] += weights[tap] * row[i];
    }
    for (std::int64_t i = 0; i < size; ++i)
      out[at + i] = static_cast<std::int16_t>(sums[i] >> (kBits - kRowBits));
  }
}

void add_rows_plain(const std::uint8_t* const* rows, const std::int16_t* weights, std::int64_t taps,
                    std::int64_t bytes, std::int16_t* out) {
  if (taps > ResampleKernels::kNarrowTaps) return add_many_rows(rows, weights, taps, bytes, out);
  std::int64_t at = 0;
  for (; at + kBlock <= bytes; at += kBlock) add_block(rows, weights, taps, at, kBlock, out);
  if (at < bytes) add_block(rows, weights, taps, at, bytes - at, out);
}

void add_columns_plain(const std::int16_t* row, const ColumnWeights& columns, std::uint8_t* out) {
  for (std::int64_t x = 0; x < columns.count; ++x, out += kChannels) {
    const std::int16_t* weights = columns.weights.data() + weights_at(x, columns.pairs);
    const std::int16_t* pixel = row + columns.firsts[static_cast<std::size_t>(x)];
    std::int32_t sums[kChannels] = {1 << (kShift - 1), 1 << (kShift - 1), 1 << (kShift - 1)};
    for (std::int64_t pair = 0; pair < columns.pairs; ++pair) {
      for (std::int64_t c = 0; c < kChannels; ++c)
        sums[c] += weights[0] * pixel[c] + weights[1] * pixel[c + kChannels];
      weights += kPairStep;
      pixel += 2 * kChannels;
    }
    for (std::int64_t c = 0; c < kChannels; ++c)
      out[c] = static_cast<std::uint8_t>(sums[c] >> kShift);
  }
}

// --- AVX2 -------------------------------------------------------------------------------------

#if defined(__x86_64__)
#define BRIGADE_AVX2 __attribute__((target("avx2")))

BRIGADE_AVX2 inline __m256i load(const void* from) {
  return _mm256_loadu_si256(static_cast<const __m256i*>(from));
}
BRIGADE_AVX2 inline void store(void* to, __m256i value) {
  _mm256_storeu_si256(static_cast<__m256i*>(to), value);
}

/// 64 columns. A sample times 256, times a weight times 2, is 16 bits above the product with 7 bits
/// below the point: the upper half of a multiplication.
BRIGADE_AVX2 inline void add_block_avx2(const std::uint8_t* const* rows,
                                        const std::int16_t* weights, std::int64_t taps,
                                        std::int64_t at, std::int16_t* out) {
  const __m256i zero = _mm256_setzero_si256();
  __m256i sums[4];
  for (__m256i& sum : sums) sum = _mm256_set1_epi16(static_cast<std::int16_t>(taps / 2));
  for (std::int64_t tap = 0; tap < taps; ++tap) {
    const __m256i weight = _mm256_set1_epi16(static_cast<std::int16_t>(weights[tap] * 2));
    const __m256i a = load(rows[tap] + at);
    const __m256i b = load(rows[tap] + at + 32);
    const auto add = [&](__m256i& sum, __m256i samples) BRIGADE_AVX2 {
      sum = _mm256_add_epi16(sum, _mm256_mulhi_epu16(samples, weight));
    };
    add(sums[0], _mm256_unpacklo_epi8(zero, a));
    add(sums[1], _mm256_unpackhi_epi8(zero, a));
    add(sums[2], _mm256_unpacklo_epi8(zero, b));
    add(sums[3], _mm256_unpackhi_epi8(zero, b));
  }
  // The lower and upper halves of 16 bytes each, back to their order.
  store(out + at, _mm256_permute2x128_si256(sums[0], sums[1], 0x20));
  store(out + at + 16, _mm256_permute2x128_si256(sums[0], sums[1], 0x31));
  store(out + at + 32, _mm256_permute2x128_si256(sums[2], sums[3], 0x20));
  store(out + at + 48, _mm256_permute2x128_si256(sums[2], sums[3], 0x31));
}

BRIGADE_AVX2 void add_rows_avx2(const std::uint8_t* const* rows, const std::int16_t* weights,
                                std::int64_t taps, std::int64_t bytes, std::int16_t* out) {
  if (taps > ResampleKernels::kNarrowTaps || bytes < kBlock)
    return add_rows_plain(rows, weights, taps, bytes, out);
  std::int64_t at = 0;
  for (; at + kBlock <= bytes; at += kBlock) add_block_avx2(rows, weights, taps, at, out);
  if (at < bytes) add_block_avx2(rows, weights, taps, bytes - kBlock, out);  // some once more
}

/// The sums of two pixels, one in each half. kPairs 0: as many as there are.
template <int kPairs>
BRIGADE_AVX2 inline __m256i add_two(const std::int16_t* a, const std::int16_t* b,
                                    const std::int16_t* weights, std::int64_t pairs) {
  // Samples r g b R G B x x to r R g G b B and two that meet weights of a pixel's fourth slot.
  const __m256i order = _mm256_broadcastsi128_si256(
      _mm_setr_epi8(0, 1, 6, 7, 2, 3, 8, 9, 4, 5, 10, 11, -1, -1, -1, -1));
  __m256i sum = _mm256_set1_epi32(1 << (kShift - 1));
  const std::int64_t count = kPairs > 0 ? kPairs : pairs;
  for (std::int64_t pair = 0; pair < count; ++pair) {
    const __m256i samples = _mm256_inserti128_si256(
        _mm256_castsi128_si256(
            _mm_loadu_si128(reinterpret_cast<const __m128i*>(a + pair * 2 * kChannels))),
        _mm_loadu_si128(reinterpret_cast<const __m128i*>(b + pair * 2 * kChannels)), 1);
    sum = _mm256_add_epi32(sum, _mm256_madd_epi16(_mm256_shuffle_epi8(samples, order),
                                                  load(weights + pair * kPairStep)));
  }
  return _mm256_srai_epi32(sum, kShift);
}

template <int kPairs>
BRIGADE_AVX2 void add_groups_avx2(const std::int16_t* row, const ColumnWeights& columns,
                                  std::uint8_t* out) {
  const __m256i close_up = _mm256_broadcastsi128_si256(
      _mm_setr_epi8(0, 1, 2, 4, 5, 6, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1));
  const std::int32_t* firsts = columns.firsts.data();
  const std::int16_t* weights = columns.weights.data();
  constexpr std::int64_t kGroup = ColumnWeights::kGroup;
  for (std::int64_t x = 0; x < columns.count; x += kGroup) {
    const __m256i even = add_two<kPairs>(row + firsts[0], row + firsts[2], weights, columns.pairs);
    const __m256i odd =
        add_two<kPairs>(row + firsts[1], row + firsts[3], weights + 4 * kSlots, columns.pairs);
    const __m256i words = _mm256_packs_epi32(even, odd);
    const __m256i pixels = _mm256_shuffle_epi8(_mm256_packus_epi16(words, words), close_up);
    std::uint8_t bytes[16];
    const bool last = x + kGroup >= columns.count;  // nothing may be written behind it
    std::uint8_t* const to = last ? bytes : out;
    _mm_storel_epi64(reinterpret_cast<__m128i*>(to), _mm256_castsi256_si128(pixels));
    _mm_storel_epi64(reinterpret_cast<__m128i*>(to + 2 * kChannels),
                     _mm256_extracti128_si256(pixels, 1));
    if (last) std::memcpy(out, bytes, static_cast<std::size_t>((columns.count - x) * kChannels));
    firsts += kGroup;
    weights += columns.pairs * kPairStep;
    out += kGroup * kChannels;
  }
}

BRIGADE_AVX2 void add_columns_avx2(const std::int16_t* row, const ColumnWeights& columns,
                                   std::uint8_t* out) {
  switch (columns.pairs) {
    case 1:
      return add_groups_avx2<1>(row, columns, out);
    case 2:
      return add_groups_avx2<2>(row, columns, out);
    case 3:
      return add_groups_avx2<3>(row, columns, out);
    default:
      return add_groups_avx2<0>(row, columns, out);
  }
}

#undef BRIGADE_AVX2
#endif

constexpr ResampleKernels kKernels[] = {
    {"plain", add_rows_plain, add_columns_plain},
#if defined(__x86_64__)
    {"AVX2", add_rows_avx2, add_columns_avx2},
#endif
};

}  // namespace

void ColumnWeights::prepare(const AxisWeights& columns) {
  count = columns.count();
  pairs = (columns.taps() + 1) / 2;
  const std::int64_t padded = (count + kGroup - 1) / kGroup * kGroup;
  firsts.assign(static_cast<std::size_t>(padded), 0);
  weights.assign(static_cast<std::size_t>(padded * pairs * 2 * kSlots), 0);
  for (std::int64_t x = 0; x < count; ++x) {
    firsts[static_cast<std::size_t>(x)] = static_cast<std::int32_t>(columns.first(x) * kChannels);
    std::int16_t* to = weights.data() + weights_at(x, pairs);
    const auto from = columns.weights(x);
    for (std::size_t tap = 0; tap < from.size(); tap += 2, to += kPairStep)
      for (std::int64_t slot = 0; slot < kSlots; ++slot) {
        to[2 * slot] = from[tap];
        to[2 * slot + 1] = tap + 1 < from.size() ? from[tap + 1] : std::int16_t{0};
      }
  }
}

std::span<const ResampleKernels> resample_kernels() { return kernels_of_this_processor(kKernels); }

}  // namespace brigade
