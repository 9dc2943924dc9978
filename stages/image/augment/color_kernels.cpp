#include "stages/image/augment/color_kernels.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

#include "stages/image/geometry/processor_kernels.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace brigade {
namespace {

constexpr std::int64_t kChannels = 3;
constexpr float kRed = 0.2989F, kGreen = 0.587F, kBlue = 0.114F;  // of a grey
constexpr float kRound = (255.0F + 1 - 1e-3F) / 255;  // so that cutting the fraction off rounds

// --- plain ------------------------------------------------------------------------------------

std::uint8_t blended(LevelBlend blend, float level, float other) {
  const float value = blend.factor * level + blend.rest * other;
  return static_cast<std::uint8_t>(std::clamp(value, 0.0F, 255.0F));
}

std::uint8_t grey_of(const std::uint8_t* rgb) {
  return static_cast<std::uint8_t>(kRed * static_cast<float>(rgb[0]) +
                                   kGreen * static_cast<float>(rgb[1]) +
                                   kBlue * static_cast<float>(rgb[2]));
}

void blend_plain(const std::uint8_t* from, std::int64_t bytes, LevelBlend blend, float other,
                 std::uint8_t* to) {
  std::array<std::uint8_t, 256> levels;
  for (std::size_t i = 0; i < levels.size(); ++i)
    levels[i] = blended(blend, static_cast<float>(i), other);
  for (std::int64_t i = 0; i < bytes; ++i) to[i] = levels[from[i]];
}

void saturate_plain(const std::uint8_t* from, std::int64_t pixels, LevelBlend blend,
                    std::uint8_t* to) {
  for (std::int64_t i = 0; i < pixels * kChannels; i += kChannels) {
    const auto grey = static_cast<float>(grey_of(from + i));
    for (std::int64_t c = i; c < i + kChannels; ++c)
      to[c] = blended(blend, static_cast<float>(from[c]), grey);
  }
}

/// How much of the range between a pixel's least and most a colour has, by the distance of its hue.
float share(float distance) { return std::clamp(distance, 0.0F, 1.0F); }

/// Travis's formulas (as in colorsys) there and back, in one: the circle of hues has six parts, red
/// at 0, green at 2, blue at 4. The least and the most stay; levels are 0 to 255 throughout.
void turn_hue_plain(const std::uint8_t* from, std::int64_t pixels, float turn, std::uint8_t* to) {
  for (std::int64_t i = 0; i < pixels * kChannels; i += kChannels) {
    const auto r = static_cast<float>(from[i]);
    const auto g = static_cast<float>(from[i + 1]);
    const auto b = static_cast<float>(from[i + 2]);
    const float most = std::max({r, g, b});
    const float least = std::min({r, g, b});
    const float range = most - least;
    float part = 4;
    float beyond = r - g;
    if (most == g) part = 2, beyond = b - r;
    if (most == r) part = 0, beyond = g - b;
    float hue = part + beyond / std::max(range, 1.0F) + turn * 6;
    hue -= std::floor(hue * (1.0F / 6)) * 6;
    const auto level = [&](float distance) {
      return static_cast<std::uint8_t>((least + range * share(distance)) * kRound);
    };
    to[i] = level(std::abs(hue - 3) - 1);
    to[i + 1] = level(2 - std::abs(hue - 2));
    to[i + 2] = level(2 - std::abs(hue - 4));
  }
}

std::uint64_t sum_greys_plain(const std::uint8_t* from, std::int64_t pixels) {
  std::uint64_t sum = 0;
  for (std::int64_t i = 0; i < pixels * kChannels; i += kChannels) sum += grey_of(from + i);
  return sum;
}

void reverse_plain(const std::uint8_t* from, std::int64_t pixels, std::uint8_t* to) {
  for (std::int64_t i = 0; i < pixels; ++i)
    std::memcpy(to + (pixels - 1 - i) * kChannels, from + i * kChannels, kChannels);
}

// --- AVX2, eight pixels at a time --------------------------------------------------------------

#if defined(__x86_64__)
#define BRIGADE_AVX2 __attribute__((target("avx2")))

constexpr std::int64_t kLanes = 8;
constexpr std::int64_t kStep = kLanes * kChannels;  // bytes

/// From 0 to 255.
struct Colors {
  __m256 red;
  __m256 green;
  __m256 blue;
};

BRIGADE_AVX2 inline __m256 floats_of(__m128i levels) {
  return _mm256_cvtepi32_ps(_mm256_cvtepu8_epi32(levels));
}

/// In the lower eight bytes.
BRIGADE_AVX2 inline __m128i levels_of(__m256 values) {
  const __m256i whole = _mm256_cvttps_epi32(values);
  const __m128i words =
      _mm_packus_epi32(_mm256_castsi256_si128(whole), _mm256_extracti128_si256(whole, 1));
  return _mm_packus_epi16(words, words);
}

/// Four pixels in each half of a register; of each, four bytes that are one number of 32 bits.
BRIGADE_AVX2 inline Colors load(const std::uint8_t* from) {
  constexpr char no = -1;
  const auto bytes = [](const std::uint8_t* at) BRIGADE_AVX2 {
    return _mm_loadu_si128(reinterpret_cast<const __m128i*>(at));
  };
  const __m256i pixels =
      _mm256_inserti128_si256(_mm256_castsi128_si256(bytes(from)), bytes(from + kStep - 16), 1);
  const __m256i red =
      _mm256_setr_epi8(0, no, no, no, 3, no, no, no, 6, no, no, no, 9, no, no, no, 4, no, no, no, 7,
                       no, no, no, 10, no, no, no, 13, no, no, no);
  const auto pick = [=](char color) BRIGADE_AVX2 {  // no: stays negative
    const __m256i places = _mm256_add_epi8(red, _mm256_set1_epi32(color));
    return _mm256_cvtepi32_ps(_mm256_shuffle_epi8(pixels, places));
  };
  return {pick(0), pick(1), pick(2)};
}

BRIGADE_AVX2 inline void store(const Colors& colors, std::uint8_t* to) {
  constexpr char no = -1;
  const __m256i blue = _mm256_cvttps_epi32(colors.blue);
  const __m256i levels = _mm256_packus_epi16(
      _mm256_packus_epi32(_mm256_cvttps_epi32(colors.red), _mm256_cvttps_epi32(colors.green)),
      _mm256_packus_epi32(blue, blue));
  const __m256i order = _mm256_setr_epi8(0, 4, 8, 1, 5, 9, 2, 6, 10, 3, 7, 11, no, no, no, no, 0, 4,
                                         8, 1, 5, 9, 2, 6, 10, 3, 7, 11, no, no, no, no);
  const __m256i pixels = _mm256_shuffle_epi8(levels, order);
  const __m128i last = _mm256_extracti128_si256(pixels, 1);
  _mm_storeu_si128(reinterpret_cast<__m128i*>(to), _mm256_castsi256_si128(pixels));
  _mm_storel_epi64(reinterpret_cast<__m128i*>(to + kStep / 2), last);
  const int end = _mm_extract_epi32(last, 2);
  std::memcpy(to + kStep - sizeof end, &end, sizeof end);
}

/// `change(from, to)` for each kStep bytes; the last ones in memory of their own.
template <class Change>
BRIGADE_AVX2 inline void by_steps(const std::uint8_t* from, std::int64_t bytes, std::uint8_t* to,
                                  const Change& change) {
  std::int64_t at = 0;
  for (; at + kStep <= bytes; at += kStep) change(from + at, to + at);
  if (at == bytes) return;
  const auto rest = static_cast<std::size_t>(bytes - at);
  std::uint8_t last[kStep] = {};
  std::memcpy(last, from + at, rest);
  change(last, last);
  std::memcpy(to + at, last, rest);
}

BRIGADE_AVX2 inline __m256 all(float value) { return _mm256_set1_ps(value); }

BRIGADE_AVX2 inline __m256 cut(__m256 values, float most) {
  return _mm256_min_ps(_mm256_max_ps(values, all(0)), all(most));
}

BRIGADE_AVX2 inline __m256i greys_of(const Colors& colors) {
  return _mm256_cvttps_epi32(all(kRed) * colors.red + all(kGreen) * colors.green +
                             all(kBlue) * colors.blue);
}

BRIGADE_AVX2 void blend_avx2(const std::uint8_t* from, std::int64_t bytes, LevelBlend blend,
                             float other, std::uint8_t* to) {
  const __m256 factor = all(blend.factor);
  const __m256 added = all(blend.rest * other);
  by_steps(
      from, bytes, to,
      [=](const std::uint8_t* in, std::uint8_t* out) BRIGADE_AVX2 __attribute__((always_inline)) {
        for (std::int64_t i = 0; i < kStep; i += kLanes) {
          const __m128i levels = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(in + i));
          _mm_storel_epi64(reinterpret_cast<__m128i*>(out + i),
                           levels_of(cut(factor * floats_of(levels) + added, 255)));
        }
      });
}

BRIGADE_AVX2 void saturate_avx2(const std::uint8_t* from, std::int64_t pixels, LevelBlend blend,
                                std::uint8_t* to) {
  const __m256 factor = all(blend.factor);
  const __m256 rest = all(blend.rest);
  by_steps(
      from, pixels * kChannels, to,
      [=](const std::uint8_t* in, std::uint8_t* out) BRIGADE_AVX2 __attribute__((always_inline)) {
        const Colors colors = load(in);
        const __m256 grey = rest * _mm256_cvtepi32_ps(greys_of(colors));
        store({cut(factor * colors.red + grey, 255), cut(factor * colors.green + grey, 255),
               cut(factor * colors.blue + grey, 255)},
              out);
      });
}

/// `a` in the lanes where `which` is set.
BRIGADE_AVX2 inline __m256 choose(__m256 which, __m256 a, __m256 otherwise) {
  return _mm256_blendv_ps(otherwise, a, which);
}
BRIGADE_AVX2 inline __m256 equal(__m256 a, __m256 b) { return _mm256_cmp_ps(a, b, _CMP_EQ_OQ); }

BRIGADE_AVX2 inline __m256 size_of(__m256 values) { return _mm256_andnot_ps(all(-0.0F), values); }

/// turn_hue_plain(), operation by operation. `by`: sixths of the circle.
BRIGADE_AVX2 inline Colors turned(const Colors& colors, __m256 by) {
  const auto [r, g, b] = colors;
  const __m256 most = _mm256_max_ps(_mm256_max_ps(r, g), b);
  const __m256 least = _mm256_min_ps(_mm256_min_ps(r, g), b);
  const __m256 range = most - least;
  const __m256 is_red = equal(most, r);
  const __m256 is_green = equal(most, g);
  const __m256 part = _mm256_andnot_ps(is_red, choose(is_green, all(2), all(4)));
  const __m256 beyond = choose(is_red, g - b, choose(is_green, b - r, r - g));
  __m256 hue = part + beyond / _mm256_max_ps(range, all(1)) + by;
  hue = hue - _mm256_floor_ps(hue * all(1.0F / 6)) * all(6);
  const auto level = [=](__m256 distance)
                         BRIGADE_AVX2 { return (least + range * cut(distance, 1)) * all(kRound); };
  return {level(size_of(hue - all(3)) - all(1)), level(all(2) - size_of(hue - all(2))),
          level(all(2) - size_of(hue - all(4)))};
}

BRIGADE_AVX2 void turn_hue_avx2(const std::uint8_t* from, std::int64_t pixels, float turn,
                                std::uint8_t* to) {
  const __m256 by = all(turn * 6);
  by_steps(
      from, pixels * kChannels, to,
      [=](const std::uint8_t* in, std::uint8_t* out) BRIGADE_AVX2
      __attribute__((always_inline)) { store(turned(load(in), by), out); });
}

BRIGADE_AVX2 std::uint64_t sum_greys_avx2(const std::uint8_t* from, std::int64_t pixels) {
  constexpr std::int64_t kTogether = std::int64_t{1} << 20;  // pixels: sums of 32 bits are enough
  std::uint64_t sum = 0;
  while (pixels >= kLanes) {
    const std::int64_t count = std::min(pixels, kTogether) / kLanes * kLanes;
    __m256i sums = _mm256_setzero_si256();
    for (std::int64_t i = 0; i < count; i += kLanes)
      sums = _mm256_add_epi32(sums, greys_of(load(from + i * kChannels)));
    std::array<std::uint32_t, kLanes> lanes;
    std::memcpy(lanes.data(), &sums, sizeof lanes);
    for (const std::uint32_t lane : lanes) sum += lane;
    from += count * kChannels;
    pixels -= count;
  }
  return sum + sum_greys_plain(from, pixels);
}

/// Five pixels of sixteen bytes; the first byte is of the pixel before, which is written later.
BRIGADE_AVX2 void reverse_avx2(const std::uint8_t* from, std::int64_t pixels, std::uint8_t* to) {
  const __m128i order = _mm_setr_epi8(15, 12, 13, 14, 9, 10, 11, 6, 7, 8, 3, 4, 5, 0, 1, 2);
  std::int64_t left = pixels;
  for (; left >= 6; left -= 5, from += 5 * kChannels) {
    const __m128i some = _mm_loadu_si128(reinterpret_cast<const __m128i*>(from));
    _mm_storeu_si128(reinterpret_cast<__m128i*>(to + (left - 5) * kChannels - 1),
                     _mm_shuffle_epi8(some, order));
  }
  reverse_plain(from, left, to);
}

#undef BRIGADE_AVX2
#endif

constexpr ColorKernels kKernels[] = {
    {"plain", blend_plain, saturate_plain, turn_hue_plain, sum_greys_plain, reverse_plain},
#if defined(__x86_64__)
    {"AVX2", blend_avx2, saturate_avx2, turn_hue_avx2, sum_greys_avx2, reverse_avx2},
#endif
};

}  // namespace

std::span<const ColorKernels> color_kernels() { return kernels_of_this_processor(kKernels); }

}  // namespace brigade
