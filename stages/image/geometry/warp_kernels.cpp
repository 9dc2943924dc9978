#include "stages/image/geometry/warp_kernels.h"

#include <algorithm>
#include <cstring>
#include <limits>

#include "stages/image/decode_image_contract.h"
#include "stages/image/geometry/processor_kernels.h"
#include "stages/image/geometry/warp_places.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace brigade {
namespace {

constexpr std::int64_t kRgb = 3;

// --- plain ------------------------------------------------------------------------------------

/// std::floor without a call, for what is near a picture.
std::int64_t below(float place) {
  const auto whole = static_cast<std::int64_t>(place);
  return place < static_cast<float>(whole) ? whole - 1 : whole;
}

/// Ties to the even level, for what is not below 0.
std::uint8_t nearest_level(float value) {
  return static_cast<std::uint8_t>(rounded_to_even(std::min(value, 255.0F)));
}

__attribute__((noinline)) void nearest_plain(const WarpSource& source, const float* rows,
                                             const float* columns, std::int64_t count,
                                             std::uint8_t* to) {
  const std::int64_t channels = source.channels;
  for (std::int64_t i = 0; i < count; ++i, to += channels) {
    const std::int64_t pixel = nearest_pixel({rows[i], columns[i]}, source.size);
    for (std::int64_t c = 0; c < channels; ++c)
      to[c] = pixel >= 0 ? source.pixels[pixel * channels + c] : source.fill;
  }
}

/// Pixels at the border are mixed with zeros and then once more with the fill, by the share of the
/// picture: torchvision does so where a fill is given.
void mix_four(const WarpSource& source, PicturePlace place, std::uint8_t* to) {
  const auto [height, width] = source.size;
  const std::int64_t channels = source.channels;
  const std::int64_t top = below(place.row);
  const std::int64_t left = below(place.column);
  const float down = place.row - static_cast<float>(top);
  const float right = place.column - static_cast<float>(left);
  const float weights[4] = {(1 - down) * (1 - right), (1 - down) * right, down * (1 - right),
                            down * right};
  float share = 0;
  float sums[kPictureChannelsMax] = {};
  bool whole = true;
  for (int i = 0; i < 4; ++i) {
    const std::int64_t row = top + i / 2;
    const std::int64_t column = left + i % 2;
    if (row < 0 || column < 0 || row >= height || column >= width) {
      whole = false;
      continue;
    }
    const std::uint8_t* const pixel = source.pixels + (row * width + column) * channels;
    share += weights[i];
    for (std::int64_t c = 0; c < channels; ++c)
      sums[c] += weights[i] * static_cast<float>(pixel[c]);
  }
  if (whole || !source.fill_shows) share = 1;
  for (std::int64_t c = 0; c < channels; ++c)
    to[c] = nearest_level(sums[c] * share + (1 - share) * static_cast<float>(source.fill));
}

__attribute__((noinline)) void bilinear_plain(const WarpSource& source, const float* rows,
                                              const float* columns, std::int64_t count,
                                              std::uint8_t* to) {
  for (std::int64_t i = 0; i < count; ++i, to += source.channels) {
    if (is_near({rows[i], columns[i]}, source.size)) {
      mix_four(source, {rows[i], columns[i]}, to);
    } else {
      std::fill_n(to, source.channels, source.fill);
    }
  }
}

// --- AVX2, eight pixels at a time --------------------------------------------------------------

#if defined(__x86_64__)
#define BRIGADE_AVX2 __attribute__((target("avx2")))

constexpr std::int64_t kLanes = 8;
constexpr std::int64_t kSideMax = std::int64_t{1} << 22;  // of what rounded_to_even() takes
constexpr std::int64_t kLoaded = 8;  // bytes at a pixel: itself and the one to its right

BRIGADE_AVX2 inline __m256i all_lanes(std::int64_t value) {
  return _mm256_set1_epi32(static_cast<int>(value));
}
BRIGADE_AVX2 inline bool are_set(__m256i lanes) { return _mm256_movemask_epi8(lanes) == -1; }

/// Which of `at` are from 0 to end - 1.
BRIGADE_AVX2 inline __m256i in_range(__m256i at, std::int64_t end) {
  return _mm256_and_si256(_mm256_cmpgt_epi32(at, all_lanes(-1)),
                          _mm256_cmpgt_epi32(all_lanes(end), at));
}

/// Which of `at` are within a pixel of one side of the picture.
BRIGADE_AVX2 inline __m256 is_near_side(__m256 at, std::int64_t end) {
  return _mm256_and_ps(_mm256_cmp_ps(at, _mm256_set1_ps(-1), _CMP_GT_OQ),
                       _mm256_cmp_ps(at, _mm256_set1_ps(static_cast<float>(end)), _CMP_LT_OQ));
}

/// Whether none of the places is_near().
BRIGADE_AVX2 inline bool are_far(PictureSize size, __m256 rows, __m256 columns) {
  const __m256 near =
      _mm256_and_ps(is_near_side(rows, size.height), is_near_side(columns, size.width));
  return _mm256_movemask_ps(near) == 0;
}

/// Of pixels whose first byte lies so far behind the picture's first.
template <int kChannels>
BRIGADE_AVX2 inline __m256i bytes_before(__m256i row, __m256i column, std::int64_t width) {
  const __m256i pixel = _mm256_add_epi32(_mm256_mullo_epi32(row, all_lanes(width)), column);
  return kChannels == 1 ? pixel : _mm256_add_epi32(pixel, _mm256_slli_epi32(pixel, 1));
}

/// Eight bytes of each lane: the first four, and the last four.
struct EightBytes {
  __m256i first;
  __m256i last;
};

BRIGADE_AVX2 inline EightBytes load_lanes(const std::uint8_t* from, const std::int32_t* offsets) {
  const auto two = [=](int a, int b) BRIGADE_AVX2 {
    return _mm_unpacklo_epi64(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(from + offsets[a])),
                              _mm_loadl_epi64(reinterpret_cast<const __m128i*>(from + offsets[b])));
  };
  // In the order that the shuffles below undo.
  const __m256 low = _mm256_castsi256_ps(_mm256_set_m128i(two(4, 5), two(0, 1)));
  const __m256 high = _mm256_castsi256_ps(_mm256_set_m128i(two(6, 7), two(2, 3)));
  return {_mm256_castps_si256(_mm256_shuffle_ps(low, high, _MM_SHUFFLE(2, 0, 2, 0))),
          _mm256_castps_si256(_mm256_shuffle_ps(low, high, _MM_SHUFFLE(3, 1, 3, 1)))};
}

template <int kByte>
BRIGADE_AVX2 inline __m256 level_of(const EightBytes& bytes) {
  const __m256i four = kByte < 4 ? bytes.first : bytes.last;
  return _mm256_cvtepi32_ps(
      _mm256_and_si256(_mm256_srli_epi32(four, kByte % 4 * 8), _mm256_set1_epi32(255)));
}

/// Each lane's first kChannels bytes, one after another.
template <int kChannels>
BRIGADE_AVX2 inline void store_pixels(__m256i pixels, std::uint8_t* to) {
  constexpr char no = -1;
  const __m256i order = _mm256_broadcastsi128_si256(
      kChannels == 1 ? _mm_setr_epi8(0, 4, 8, 12, no, no, no, no, no, no, no, no, no, no, no, no)
                     : _mm_setr_epi8(0, 1, 2, 4, 5, 6, 8, 9, 10, 12, 13, 14, no, no, no, no));
  const __m256i close = _mm256_shuffle_epi8(pixels, order);
  const __m128i low = _mm256_castsi256_si128(close);
  const __m128i high = _mm256_extracti128_si256(close, 1);
  if constexpr (kChannels == 1) {
    _mm_storel_epi64(reinterpret_cast<__m128i*>(to), _mm_unpacklo_epi32(low, high));
  } else {
    _mm_storeu_si128(reinterpret_cast<__m128i*>(to), low);
    _mm_storel_epi64(reinterpret_cast<__m128i*>(to + 4 * kChannels), high);
    const int end = _mm_extract_epi32(high, 2);
    std::memcpy(to + 7 * kChannels - 1, &end, sizeof end);
  }
}

/// Eight pixels between four of the picture each; false, and nothing is written: some are not.
template <int kChannels>
BRIGADE_AVX2 __attribute__((always_inline)) inline bool mix_eight(const WarpSource& source,
                                                                  __m256 rows, __m256 columns,
                                                                  std::uint8_t* to) {
  const auto [height, width] = source.size;
  const std::int64_t row_bytes = width * kChannels;
  const __m256 above = _mm256_floor_ps(rows);
  const __m256 before = _mm256_floor_ps(columns);
  const __m256i top = _mm256_cvttps_epi32(above);  // of what is too large: negative
  const __m256i left = _mm256_cvttps_epi32(before);
  const __m256i at = bytes_before<kChannels>(top, left, width);
  const __m256i has_four = _mm256_and_si256(in_range(top, height - 1), in_range(left, width - 1));
  const __m256i last = all_lanes(height * row_bytes - row_bytes - kLoaded);
  if (!are_set(_mm256_andnot_si256(_mm256_cmpgt_epi32(at, last), has_four))) return false;

  alignas(32) std::int32_t offsets[kLanes];
  _mm256_store_si256(reinterpret_cast<__m256i*>(offsets), at);
  const EightBytes upper = load_lanes(source.pixels, offsets);
  const EightBytes lower = load_lanes(source.pixels + row_bytes, offsets);
  const __m256 one = _mm256_set1_ps(1);
  const __m256 down = rows - above;
  const __m256 right = columns - before;
  const __m256 weights[4] = {(one - down) * (one - right), (one - down) * right,
                             down * (one - right), down * right};
  const auto mixed = [&]<int kChannel>() BRIGADE_AVX2 {
    return _mm256_cvtps_epi32(weights[0] * level_of<kChannel>(upper) +
                              weights[1] * level_of<kChannel + kChannels>(upper) +
                              weights[2] * level_of<kChannel>(lower) +
                              weights[3] * level_of<kChannel + kChannels>(lower));
  };
  __m256i pixels = mixed.template operator()<0>();
  if constexpr (kChannels == kRgb) {
    pixels = _mm256_or_si256(pixels, _mm256_slli_epi32(mixed.template operator()<1>(), 8));
    pixels = _mm256_or_si256(pixels, _mm256_slli_epi32(mixed.template operator()<2>(), 16));
  }
  store_pixels<kChannels>(pixels, to);
  return true;
}

/// Eight pixels that are each one of the picture; false, and nothing is written: some are not.
template <int kChannels>
BRIGADE_AVX2 __attribute__((always_inline)) inline bool copy_eight(const WarpSource& source,
                                                                   __m256 rows, __m256 columns,
                                                                   std::uint8_t* to) {
  const auto [height, width] = source.size;
  const __m256i row = _mm256_cvtps_epi32(rows);  // ties to even
  const __m256i column = _mm256_cvtps_epi32(columns);
  const __m256i at = bytes_before<kChannels>(row, column, width);
  const __m256i inside = _mm256_and_si256(in_range(row, height), in_range(column, width));
  const __m256i last = all_lanes(source.size.pixels() * kChannels - 4);
  if (!are_set(_mm256_andnot_si256(_mm256_cmpgt_epi32(at, last), inside))) return false;

  alignas(32) std::int32_t offsets[kLanes];
  _mm256_store_si256(reinterpret_cast<__m256i*>(offsets), at);
  // A byte more at a time than a colour has: the next one is written over it.
  constexpr std::size_t kCopied = kChannels == kRgb ? 4 : kChannels;
  for (std::int64_t i = 0; i < kLanes - 1; ++i)
    std::memcpy(to + i * kChannels, source.pixels + offsets[i], kCopied);
  std::memcpy(to + (kLanes - 1) * kChannels, source.pixels + offsets[kLanes - 1], kChannels);
  return true;
}

/// Instructions for narrower registers wait long for upper halves that are not zero, and the
/// compiler does not see to it where it knows what it calls.
template <WarpKernels::Run kPlain>
BRIGADE_AVX2 inline void run_plain(const WarpSource& source, const float* rows,
                                   const float* columns, std::int64_t count, std::uint8_t* to) {
  _mm256_zeroupper();
  kPlain(source, rows, columns, count, to);
}

/// kEight, and kPlain for what that leaves.
template <auto kEight, WarpKernels::Run kPlain>
BRIGADE_AVX2 void by_eights(const WarpSource& source, const float* rows, const float* columns,
                            std::int64_t count, std::uint8_t* to) {
  const WarpSource copy = source;  // that no byte written to `to` can belong to
  std::int64_t i = 0;
  for (; i + kLanes <= count; i += kLanes, to += kLanes * copy.channels) {
    const __m256 row = _mm256_loadu_ps(rows + i);
    const __m256 column = _mm256_loadu_ps(columns + i);
    if (kEight(copy, row, column, to)) continue;
    if (are_far(copy.size, row, column)) {
      std::fill_n(to, kLanes * copy.channels, copy.fill);
    } else {
      run_plain<kPlain>(source, rows + i, columns + i, kLanes, to);
    }
  }
  run_plain<kPlain>(source, rows + i, columns + i, count - i, to);
}

/// Whether lanes hold all offsets, and round places as the plain kernel does.
bool fits_lanes(const WarpSource& source) {
  return std::max(source.size.height, source.size.width) < kSideMax &&
         (source.size.pixels() + source.size.width) * source.channels <=
             std::numeric_limits<std::int32_t>::max();
}

template <auto kEightRgb, auto kEightGrey, WarpKernels::Run kPlain>
void run_avx2(const WarpSource& source, const float* rows, const float* columns, std::int64_t count,
              std::uint8_t* to) {
  const auto run = !fits_lanes(source)       ? kPlain
                   : source.channels == kRgb ? by_eights<kEightRgb, kPlain>
                   : source.channels == 1    ? by_eights<kEightGrey, kPlain>
                                             : kPlain;
  run(source, rows, columns, count, to);
}

constexpr WarpKernels kAvx2 = {"AVX2", run_avx2<copy_eight<kRgb>, copy_eight<1>, nearest_plain>,
                               run_avx2<mix_eight<kRgb>, mix_eight<1>, bilinear_plain>};

#undef BRIGADE_AVX2
#endif

constexpr WarpKernels kWarpKernels[] = {
    {"plain", nearest_plain, bilinear_plain},
#if defined(__x86_64__)
    kAvx2,
#endif
};

}  // namespace

std::span<const WarpKernels> warp_kernels() { return kernels_of_this_processor(kWarpKernels); }

}  // namespace brigade
