#include "pipeline/run/sampler.h"

#include <algorithm>
#include <bit>

#include "base/random.h"

namespace brigade {
namespace {

// Narrower halves have too few functions to choose from: some orders of 5 samples would come three
// times as often as others.
constexpr int kBitsMin = 8;

}  // namespace

Permutation::Permutation(std::uint64_t size, std::uint64_t seed, std::uint32_t epoch)
    : size_(size) {
  const int bits = std::max(kBitsMin, static_cast<int>(std::bit_width(size > 0 ? size - 1 : 0)));
  right_bits_ = bits - bits / 2;
  right_mask_ = (std::uint64_t{1} << right_bits_) - 1;
  left_mask_ = (std::uint64_t{1} << (bits / 2)) - 1;
  Philox random(seed, stream_id("shuffle"), epoch, 0);
  for (std::uint64_t& key : keys_) key = random.next64();
}

}  // namespace brigade
