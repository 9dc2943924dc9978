#pragma once

// Random numbers that depend on their purpose, not on the process or the
// time of the draw: Philox4x32-10 (Salmon, Moraes, Dror, Shaw: "Parallel
// random numbers: as easy as 1, 2, 3", SC'11), a block cipher without state.
//
//   key     = mix(seed, stream)            stream = stream_id("augment")
//   counter = {block, epoch, sample id}    four words of output per block
//
// Therefore the augmentation of a sample is the same for any number of replicas, any
// order and after any restart. A Philox is a value of 48 bytes, made per sample and
// cheap to make (two multiplications; blocks are computed when drawn from); one
// thread at a time. The sequence of draws is part of what users may rely on: changing
// any function here changes their results. A stream repeats after 2^34 words.

#include <array>
#include <cmath>
#include <cstdint>
#include <numbers>
#include <string_view>

#include <brigade/check.h>

namespace brigade {

/// The finaliser of splitmix64 (Steele, Lea, Flood 2014; constants of Stafford's variant 13):
/// a bijection in which every input bit reaches every output bit.
constexpr std::uint64_t mix64(std::uint64_t value) {
  value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9;
  value = (value ^ (value >> 27)) * 0x94d049bb133111eb;
  return value ^ (value >> 31);
}

/// A number for a name, the same on every machine and in every version: FNV-1a (64 bits), finished
/// by mix64 because FNV alone leaves the high bits of short names poor.
constexpr std::uint64_t stream_id(std::string_view name) {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (char character : name) {
    hash ^= static_cast<unsigned char>(character);
    hash *= 0x100000001b3;
  }
  return mix64(hash);
}

class Philox {
 public:
  using Words = std::array<std::uint32_t, 4>;

  constexpr Philox(std::uint64_t seed, std::uint64_t stream, std::uint32_t epoch,
                   std::uint64_t sample_id)
      : counter_{0, epoch, low(sample_id), high(sample_id)} {
    constexpr std::uint64_t kGolden = 0x9e3779b97f4a7c15;  // so that seed 0 is not a fixed point
    const std::uint64_t key = mix64(mix64(seed + kGolden) ^ stream);
    key_ = {low(key), high(key)};
  }

  /// One block of the cipher: ten rounds over `counter`.
  static constexpr Words block(Words counter, std::array<std::uint32_t, 2> key) {
    for (int round = 0; round < 10; ++round) {
      const std::uint64_t left = std::uint64_t{0xd2511f53} * counter[0];
      const std::uint64_t right = std::uint64_t{0xcd9e8d57} * counter[2];
      counter = {high(right) ^ counter[1] ^ key[0], low(right), high(left) ^ counter[3] ^ key[1],
                 low(left)};
      key[0] += 0x9e3779b9;
      key[1] += 0xbb67ae85;
    }
    return counter;
  }

  /// 32 random bits.
  constexpr std::uint32_t next() {
    if (used_ == 4) {
      words_ = block(counter_, key_);
      ++counter_[0];
      used_ = 0;
    }
    return words_[used_++];
  }

  /// 64 random bits: the first word drawn is the lower half.
  constexpr std::uint64_t next64() {
    const std::uint64_t lower = next();
    return lower | std::uint64_t{next()} << 32;
  }

  /// In [0, 1): a multiple of 2^-53. Two words.
  constexpr double uniform() { return static_cast<double>(next64() >> 11) * 0x1p-53; }

  /// In [low, high), from one uniform().
  constexpr double uniform(double from, double to) { return from + (to - from) * uniform(); }

  /// One of 0 .. n-1, each exactly as likely; n > 0. (Lemire: "Fast random integer generation in
  /// an interval", 2019.) One word for n <= 2^32, else two; more only after a rejection.
  constexpr std::uint64_t below(std::uint64_t n) {
    BRIGADE_CHECK(n > 0);
    if (n <= std::uint64_t{1} << 32) return below32(n);
    unsigned __int128 product = static_cast<unsigned __int128>(next64()) * n;
    if (static_cast<std::uint64_t>(product) < n) {
      const std::uint64_t threshold = (0 - n) % n;
      while (static_cast<std::uint64_t>(product) < threshold)
        product = static_cast<unsigned __int128>(next64()) * n;
    }
    return static_cast<std::uint64_t>(product >> 64);
  }

  /// True with this probability: never for 0, always for 1. Two words.
  constexpr bool chance(double probability) { return uniform() < probability; }

  /// Standard normal (Box and Muller 1958, the cosine of the pair). Four words.
  double normal() {
    const double radius = std::sqrt(-2 * std::log(1 - uniform()));
    return radius * std::cos(2 * std::numbers::pi * uniform());
  }

 private:
  static constexpr std::uint32_t low(std::uint64_t value) {
    return static_cast<std::uint32_t>(value);
  }
  static constexpr std::uint32_t high(std::uint64_t value) {
    return static_cast<std::uint32_t>(value >> 32);
  }

  constexpr std::uint64_t below32(std::uint64_t n) {
    std::uint64_t product = next() * n;
    if (low(product) < n) {
      const std::uint64_t threshold = ((std::uint64_t{1} << 32) - n) % n;
      while (low(product) < threshold) product = next() * n;
    }
    return product >> 32;
  }

  Words counter_;
  std::array<std::uint32_t, 2> key_{};
  Words words_{};
  std::uint32_t used_ = 4;
};

}  // namespace brigade
