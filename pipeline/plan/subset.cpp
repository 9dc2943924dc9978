#include "pipeline/plan/subset.h"

#include <algorithm>

#include <brigade/random.h>

namespace brigade {
namespace {

using Wide = unsigned __int128;

constexpr Wide wide(std::uint64_t number) { return number; }

std::uint64_t part_key(std::uint64_t seed, std::string_view what, std::uint64_t number) {
  return Philox(seed, stream_id(what), 0, number).next64();
}

}  // namespace

TwoParts::TwoParts(std::uint64_t size, std::uint64_t chosen, std::uint64_t key)
    : size_(size),
      runs_(std::min(chosen, size - chosen)),
      key_(key),
      chosen_is_small_(chosen <= size - chosen) {}

std::uint64_t TwoParts::run_begin(std::uint64_t run) const {
  return static_cast<std::uint64_t>(wide(run) * size_ / runs_);
}

std::uint64_t TwoParts::small(std::uint64_t i) const {
  const std::uint64_t begin = run_begin(i);
  const std::uint64_t length = run_begin(i + 1) - begin;
  // High bits of the product: a number below `length` (Lemire 2019), without the rejection, since
  // what it is off by is far below what a split can show.
  const std::uint64_t hash = mix64(key_ ^ mix64(i + 1));
  return begin + static_cast<std::uint64_t>(wide(hash) * length >> 64);
}

std::uint64_t TwoParts::large(std::uint64_t i) const {
  if (runs_ == 0) return i;
  // Before run r lie run_begin(r) - r of them, so i is in the last run for which that is <= i.
  const std::uint64_t others = size_ - runs_;
  const auto run = static_cast<std::uint64_t>((wide(i + 1) * runs_ - 1) / others);
  const std::uint64_t index = i + run;
  return index < small(run) ? index : index + 1;
}

Subset::Subset(const StageKeys& keys, std::uint64_t seed, std::uint64_t found)
    : size_(found - std::min(keys.skip, found)), skipped_(found - size_) {
  if (!keys.split.shares.empty()) take_part(keys.split, keys.part);
  if (keys.limit.any()) take_limit(keys, seed);
}

void Subset::take_part(const Split& split, const std::string& part) {
  const std::uint64_t all = size_;
  std::uint64_t share = 0;
  std::uint64_t before = 0;
  for (std::size_t p = 0; p < split.shares.size(); ++p) {
    share = std::min(share + std::min(split.shares[p].share, kWholeShare), kWholeShare);
    const std::uint64_t end = samples_of_share(share, all);
    const std::uint64_t left = all - before;
    const bool chosen = split.shares[p].name == part;
    steps_.push_back({{left, end - before, part_key(split.seed, "split", p)}, chosen});
    size_ = chosen ? end - before : all - end;
    if (chosen) break;
    before = end;
  }
  in_other_parts_ = all - size_;
}

void Subset::take_limit(const StageKeys& keys, std::uint64_t seed) {
  const std::uint64_t all = size_;
  size_ = limited(keys.limit, all);
  behind_limit_ = all - size_;
  if (keys.take == Take::first || size_ == all) return;
  steps_.push_back({{all, size_, part_key(seed, "limit", 0)}, true});
}

std::uint64_t Subset::source_index(std::uint64_t position) const {
  for (auto step = steps_.rbegin(); step != steps_.rend(); ++step)
    position = step->chosen ? step->parts.chosen(position) : step->parts.other(position);
  return skipped_ + position;
}

bool is_spread(const StageKeys& keys) { return keys.limit.any() && keys.take == Take::spread; }

bool reads_neighbours(const StageKeys& keys) {
  return keys.split.shares.empty() && !is_spread(keys);
}

bool is_front(const StageKeys& keys) { return reads_neighbours(keys) && keys.skip == 0; }

bool is_drawn(const StageKeys& keys) {
  return keys.mix.any() || keys.weights.any() || keys.repeat_factor.below != 0;
}

std::uint64_t epoch_samples(const StageKeys& keys, std::uint64_t size) {
  if (keys.draws != 0) return keys.draws;
  return keys.repeat_factor.below != 0 ? 0 : size;
}

std::uint64_t samples_of_share(std::uint64_t share, std::uint64_t samples) {
  share = std::min(share, kWholeShare);
  return static_cast<std::uint64_t>((wide(samples) * share + kWholeShare / 2) / kWholeShare);
}

std::uint64_t limited(const SampleLimit& limit, std::uint64_t samples) {
  if (limit.samples != 0) return std::min(samples, limit.samples);
  if (limit.share == 0 || samples == 0) return samples;
  return std::max<std::uint64_t>(samples_of_share(limit.share, samples), 1);
}

}  // namespace brigade
