#pragma once

// To the nearest 16-bit floating-point number (ties to even) and back, for stages that have no
// tensor library. Without branches, so that compilers make vectors of loops over them.

#include <bit>
#include <cstdint>

#include <brigade/tensor.h>

namespace brigade {

/// The upper half of the float, rounded. NaN stays NaN.
inline BFloat16 to_bfloat16(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t rounded = (bits + 0x7fffU + (bits >> 16 & 1U)) >> 16;
  return {static_cast<std::uint16_t>(value == value ? rounded : bits >> 16 | 0x40U)};
}

inline float to_float(BFloat16 value) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(value.bits) << 16);
}

namespace half_float_detail {
inline std::int32_t choose(bool first, std::int32_t a, std::int32_t b) {
  const std::int32_t mask = -static_cast<std::int32_t>(first);
  return (a & mask) | (b & ~mask);
}
}  // namespace half_float_detail

/// IEEE 754 binary16; from 65520 on infinity. NaN stays NaN.
inline Half to_half(float value) {
  using half_float_detail::choose;
  const auto bits = std::bit_cast<std::int32_t>(value);
  const std::int32_t size = bits & 0x7fffffff;
  const std::int32_t normal = (size - (112 << 23) + 0xfff + (size >> 13 & 1)) >> 13;
  // Adding a half leaves exactly the bits that fit a subnormal number, rounded by the processor.
  const auto sum = std::bit_cast<std::int32_t>(std::bit_cast<float>(size) + 0.5F);
  const std::int32_t subnormal = sum - std::bit_cast<std::int32_t>(0.5F);
  std::int32_t half = choose(size < (113 << 23), subnormal, normal);
  half = choose(size >= 0x477ff000, 0x7c00, half);  // 65520 and more
  half = choose(size > 0x7f800000, 0x7e00, half);
  return {static_cast<std::uint16_t>(half | (bits >> 16 & 0x8000))};
}

inline float to_float(Half value) {
  const std::int32_t size = value.bits & 0x7fff;
  // The exponent is moved by a product, which is right for subnormal numbers, too.
  const auto scaled = std::bit_cast<std::int32_t>(std::bit_cast<float>(size << 13) * 0x1p112F);
  const std::int32_t endless = half_float_detail::choose(size >= 0x7c00, 0x7f800000, 0);
  return std::bit_cast<float>(scaled | endless | (value.bits >> 15) << 31);
}

}  // namespace brigade
