#include "pipeline/records/sampler.h"

#include <algorithm>
#include <bit>

#include <brigade/random.h>
#include <brigade/text.h>

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

Result<std::uint64_t> shard_samples(std::uint64_t source_samples, const Shard& shard) {
  const std::uint64_t whole = source_samples / shard.world;
  if (source_samples % shard.world == 0) return whole;
  const std::string cannot = concat("its ", format_count(source_samples),
                                    " samples cannot be divided among ", shard.world, " ranks");
  if (shard.uneven == Uneven::error)
    return Error{concat(
        cannot,
        "; write `shard: {uneven: pad}` to read some twice, or `uneven: drop` to drop some")};
  if (shard.uneven == Uneven::pad) return whole + 1;
  if (whole == 0) return Error{concat(cannot, ": `uneven: drop` would leave none")};
  return whole;
}

}  // namespace brigade
