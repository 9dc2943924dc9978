#include "stages/image/augment/blur_kernels.h"

#include <algorithm>

#include "stages/image/geometry/processor_kernels.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace brigade {
namespace {

constexpr std::int64_t kTogether = 32;

// --- plain ------------------------------------------------------------------------------------

/// `size` is kTogether, as a constant, for all blocks but the last.
inline void add_rows_of_block(const std::uint8_t* const* rows, std::span<const float> weights,
                              std::int64_t at, std::int64_t size, float* sums) {
  float block[kTogether];
  for (std::int64_t i = 0; i < size; ++i)
    block[i] = weights[0] * static_cast<float>(rows[0][at + i]);
  for (std::ptrdiff_t k = 1; k < std::ssize(weights); ++k) {
    const std::uint8_t* const above = rows[-k] + at;
    const std::uint8_t* const below = rows[k] + at;
    const float weight = weights[static_cast<std::size_t>(k)];
    for (std::int64_t i = 0; i < size; ++i)
      block[i] += weight * static_cast<float>(above[i] + below[i]);
  }
  std::copy_n(block, size, sums + at);
}

void add_rows_plain(const std::uint8_t* const* rows, std::span<const float> weights,
                    std::int64_t count, float* sums) {
  std::int64_t at = 0;
  for (; at + kTogether <= count; at += kTogether)
    add_rows_of_block(rows, weights, at, kTogether, sums);
  if (at < count) add_rows_of_block(rows, weights, at, count - at, sums);
}

inline void add_columns_of_block(const float* row, std::int64_t step,
                                 std::span<const float> weights, std::int64_t size,
                                 std::uint8_t* to) {
  float block[kTogether];
  for (std::int64_t i = 0; i < size; ++i) block[i] = weights[0] * row[i];
  for (std::ptrdiff_t k = 1; k < std::ssize(weights); ++k) {
    const float* const before = row - k * step;
    const float* const behind = row + k * step;
    const float weight = weights[static_cast<std::size_t>(k)];
    for (std::int64_t i = 0; i < size; ++i) block[i] += weight * (before[i] + behind[i]);
  }
  // Ties come from rounding alone.
  for (std::int64_t i = 0; i < size; ++i) to[i] = static_cast<std::uint8_t>(block[i] + 0.5F);
}

void add_columns_plain(const float* row, std::int64_t step, std::span<const float> weights,
                       std::int64_t count, std::uint8_t* to) {
  std::int64_t at = 0;
  for (; at + kTogether <= count; at += kTogether)
    add_columns_of_block(row + at, step, weights, kTogether, to + at);
  if (at < count) add_columns_of_block(row + at, step, weights, count - at, to + at);
}

// --- AVX2 -------------------------------------------------------------------------------------

#if defined(__x86_64__)
#define BRIGADE_AVX2 __attribute__((target("avx2")))

/// `block(at)` for all blocks; the last one begins earlier and does some once more.
template <class Block>
BRIGADE_AVX2 inline void by_blocks(std::int64_t count, const Block& block) {
  std::int64_t at = 0;
  for (; at + kTogether <= count; at += kTogether) block(at);
  if (at < count) block(count - kTogether);
}

BRIGADE_AVX2 inline __m256i load_bytes(const std::uint8_t* from) {
  return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from));
}

/// Adds weight times each of 16 numbers of 16 bits: the lower four of both halves to `a`, the upper
/// four to `b`.
BRIGADE_AVX2 inline void add_words(__m256i words, __m256 weight, __m256& a, __m256& b) {
  const __m256i zero = _mm256_setzero_si256();
  a = a + weight * _mm256_cvtepi32_ps(_mm256_unpacklo_epi16(words, zero));
  b = b + weight * _mm256_cvtepi32_ps(_mm256_unpackhi_epi16(words, zero));
}

BRIGADE_AVX2 void add_rows_avx2(const std::uint8_t* const* rows, std::span<const float> weights,
                                std::int64_t count, float* sums) {
  if (count < kTogether) return add_rows_plain(rows, weights, count, sums);
  by_blocks(
      count, [=](std::int64_t at) BRIGADE_AVX2 __attribute__((always_inline)) {
        const __m256i ones = _mm256_set1_epi8(1);
        const __m256i zero = _mm256_setzero_si256();
        __m256 a = _mm256_setzero_ps();
        __m256 b = a, c = a, d = a;
        const auto add = [&](__m256i above, __m256i below, float of) BRIGADE_AVX2
            __attribute__((always_inline)) {
          const __m256 weight = _mm256_set1_ps(of);
          // A byte of both side by side, times one each, is their sum in 16 bits.
          add_words(_mm256_maddubs_epi16(_mm256_unpacklo_epi8(above, below), ones), weight, a, b);
          add_words(_mm256_maddubs_epi16(_mm256_unpackhi_epi8(above, below), ones), weight, c, d);
        };
        add(load_bytes(rows[0] + at), zero, weights[0]);
        for (std::ptrdiff_t k = 1; k < std::ssize(weights); ++k)
          add(load_bytes(rows[-k] + at), load_bytes(rows[k] + at),
              weights[static_cast<std::size_t>(k)]);
        _mm256_storeu_ps(sums + at, _mm256_permute2f128_ps(a, b, 0x20));
        _mm256_storeu_ps(sums + at + 8, _mm256_permute2f128_ps(c, d, 0x20));
        _mm256_storeu_ps(sums + at + 16, _mm256_permute2f128_ps(a, b, 0x31));
        _mm256_storeu_ps(sums + at + 24, _mm256_permute2f128_ps(c, d, 0x31));
      });
}

BRIGADE_AVX2 void add_columns_avx2(const float* row, std::int64_t step,
                                   std::span<const float> weights, std::int64_t count,
                                   std::uint8_t* to) {
  if (count < kTogether) return add_columns_plain(row, step, weights, count, to);
  by_blocks(
      count, [=](std::int64_t at) BRIGADE_AVX2 __attribute__((always_inline)) {
        const float* const middle = row + at;
        const __m256 first = _mm256_set1_ps(weights[0]);
        __m256 a = first * _mm256_loadu_ps(middle), b = first * _mm256_loadu_ps(middle + 8);
        __m256 c = first * _mm256_loadu_ps(middle + 16), d = first * _mm256_loadu_ps(middle + 24);
        for (std::ptrdiff_t k = 1; k < std::ssize(weights); ++k) {
          const __m256 weight = _mm256_set1_ps(weights[static_cast<std::size_t>(k)]);
          const float* const before = middle - k * step;
          const float* const behind = middle + k * step;
          a = a + weight * (_mm256_loadu_ps(before) + _mm256_loadu_ps(behind));
          b = b + weight * (_mm256_loadu_ps(before + 8) + _mm256_loadu_ps(behind + 8));
          c = c + weight * (_mm256_loadu_ps(before + 16) + _mm256_loadu_ps(behind + 16));
          d = d + weight * (_mm256_loadu_ps(before + 24) + _mm256_loadu_ps(behind + 24));
        }
        const __m256 half = _mm256_set1_ps(0.5F);
        const __m256i words_low =
            _mm256_packs_epi32(_mm256_cvttps_epi32(a + half), _mm256_cvttps_epi32(b + half));
        const __m256i words_high =
            _mm256_packs_epi32(_mm256_cvttps_epi32(c + half), _mm256_cvttps_epi32(d + half));
        const __m256i order = _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7);
        _mm256_storeu_si256(
            reinterpret_cast<__m256i*>(to + at),
            _mm256_permutevar8x32_epi32(_mm256_packus_epi16(words_low, words_high), order));
      });
}

#undef BRIGADE_AVX2
#endif

constexpr BlurKernels kBlurKernels[] = {
    {"plain", add_rows_plain, add_columns_plain},
#if defined(__x86_64__)
    {"AVX2", add_rows_avx2, add_columns_avx2},
#endif
};

}  // namespace

std::span<const BlurKernels> blur_kernels() { return kernels_of_this_processor(kBlurKernels); }

}  // namespace brigade
