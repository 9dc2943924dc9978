#pragma once

// Whole-number arithmetic on sizes that a user chose. Instead of wrapping, it sticks at kSaturated,
// which is above every limit, so that one comparison at the end rejects what is too large.

#include <cstdint>
#include <numeric>

namespace brigade {

inline constexpr std::uint64_t kSaturated = ~std::uint64_t{0};

constexpr std::uint64_t add_saturating(std::uint64_t a, std::uint64_t b) {
  return a > kSaturated - b ? kSaturated : a + b;
}

constexpr std::uint64_t multiply_saturating(std::uint64_t a, std::uint64_t b) {
  return b != 0 && a > kSaturated / b ? kSaturated : a * b;
}

/// The smallest multiple of `unit` that is at least `value`; unit > 0.
constexpr std::uint64_t round_up(std::uint64_t value, std::uint64_t unit) {
  const std::uint64_t rest = value % unit;
  return rest == 0 ? value : add_saturating(value, unit - rest);
}

/// Least common multiple; both > 0.
constexpr std::uint64_t lcm_saturating(std::uint64_t a, std::uint64_t b) {
  return multiply_saturating(a / std::gcd(a, b), b);
}

}  // namespace brigade
