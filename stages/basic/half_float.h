#pragma once

// To the nearest 16-bit floating-point number (ties to even) and back, for stages that have no
// tensor library.

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

#include <brigade/tensor.h>

namespace brigade {

/// The upper half of the float, rounded. NaN stays NaN.
inline BFloat16 to_bfloat16(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  if (std::isnan(value)) return {static_cast<std::uint16_t>(bits >> 16 | 0x40)};
  return {static_cast<std::uint16_t>((bits + 0x7fff + (bits >> 16 & 1)) >> 16)};
}

/// IEEE 754 binary16; beyond 65504 infinity. NaN stays NaN.
inline Half to_half(float value) {
  const auto sign = static_cast<std::uint16_t>(std::signbit(value) ? 0x8000 : 0);
  const float size = std::fabs(value);
  if (std::isnan(value)) return {static_cast<std::uint16_t>(sign | 0x7e00)};
  if (size >= 65520) return {static_cast<std::uint16_t>(sign | 0x7c00)};
  // Adding this power of two leaves exactly the bits that fit, rounded by the processor.
  const int exponent = size < 0x1p-14f ? -14 : std::ilogb(size);
  const float anchor = std::ldexp(1.0f, exponent + 13);
  const float rounded = (size + anchor) - anchor;
  if (rounded < 0x1p-14f) return {static_cast<std::uint16_t>(sign | int(rounded * 0x1p24f))};
  const int rounded_exponent = std::ilogb(rounded);
  const int mantissa = static_cast<int>(std::ldexp(rounded, 10 - rounded_exponent)) - 1024;
  return {static_cast<std::uint16_t>(sign | (rounded_exponent + 15) << 10 | mantissa)};
}

inline float to_float(BFloat16 value) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(value.bits) << 16);
}

inline float to_float(Half value) {
  const int exponent = value.bits >> 10 & 0x1f;
  const auto mantissa = static_cast<float>(value.bits & 0x3ff);
  float size = std::ldexp(exponent == 0 ? mantissa : mantissa + 1024, std::max(exponent, 1) - 25);
  if (exponent == 0x1f)
    size = mantissa == 0 ? std::numeric_limits<float>::infinity()
                         : std::numeric_limits<float>::quiet_NaN();
  return value.bits >> 15 != 0 ? -size : size;
}

}  // namespace brigade
