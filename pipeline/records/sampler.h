#pragma once

// Maps a number n to a sample of the source: the runtime's half of an indexed
// producer. All steps of the mapping are here, each a function of the one before:
//
//   number -> epoch, index in it -> index among those of all ranks (ShardPart)
//          -> position among the samples that are read (Permutation, with `shuffle`)
//          -> index in the source (Subset: `limit`, `split`, `skip`)
//
// If samples are drawn by weight, the positions are those of an epoch's draws, and a
// sample's id contains its index and the number of the repetition (Draws, draws.h).
//
// An epoch has S samples in this process and takes P >= S numbers; numbers past S are
// padding. With `shuffle` each epoch reads the samples in a different order, the same
// on every machine, for any number of replicas, and for every source with that seed:
// the key does not contain the stage, so zipped sources shuffle alike. Nothing is
// stored per sample and any number can be computed, so that seeking costs nothing.

#include <array>
#include <cstdint>
#include <utility>

#include <brigade/result.h>
#include "pipeline/plan/plan.h"
#include "pipeline/plan/sample_address.h"
#include "pipeline/plan/subset.h"
#include "pipeline/records/draws.h"

namespace brigade {

/// A bijection of [0, size), chosen by (seed, epoch), in constant memory: a Feistel network (Luby
/// and Rackoff 1988; six rounds, halves of unequal width where the bits are odd) over the next
/// power of two, 256 at least, applied again until it lands inside (cycle walking: Black and
/// Rogaway, "Ciphers with arbitrary finite index spaces", 2002): fewer than twice on average, 256 /
/// size times for a small size. A value; any thread. What it gives is part of what users rely on.
class Permutation {
 public:
  Permutation() = default;
  Permutation(std::uint64_t size, std::uint64_t seed, std::uint32_t epoch);

  std::uint64_t size() const { return size_; }

  /// `position` < size().
  std::uint64_t operator()(std::uint64_t position) const {
    do {
      position = encipher(position);
    } while (position >= size_);
    return position;
  }

 private:
  static constexpr int kRounds = 6;

  static constexpr std::uint64_t scramble(std::uint64_t half, std::uint64_t key) {
    std::uint64_t hash = (half ^ key) * 0xbf58476d1ce4e5b9;
    hash = (hash ^ (hash >> 32)) * 0x94d049bb133111eb;
    return hash >> 32;  // a half has at most 32 bits
  }

  std::uint64_t encipher(std::uint64_t value) const {
    std::uint64_t left = value >> right_bits_;
    std::uint64_t right = value & right_mask_;
    for (int round = 0; round < kRounds; round += 2) {
      left ^= scramble(right, keys_[round]) & left_mask_;
      right ^= scramble(left, keys_[static_cast<std::size_t>(round) + 1]) & right_mask_;
    }
    return left << right_bits_ | right;
  }

  std::uint64_t size_ = 0;
  std::uint64_t left_mask_ = 0;
  std::uint64_t right_mask_ = 0;
  int right_bits_ = 0;
  std::array<std::uint64_t, kRounds> keys_{};
};

/// The part of a source that this process reads: of each epoch's order the positions rank,
/// rank + world, rank + 2 world, ... All ranks read equally many; where the source cannot be
/// divided (`uneven: pad`), the last ones begin again at the front of the order.
struct ShardPart {
  std::uint64_t rank = 0;
  std::uint64_t world = 1;
  std::uint64_t source_samples = 0;  ///< of all ranks together, each counted once: of the subset
};

/// One thread at a time.
class Sampler {
 public:
  Sampler() = default;
  /// `samples`: S, of this process. `period`: P >= S. `seed` matters only with `shuffle`.
  /// `subset`: of the source; without one its front is read.
  Sampler(std::uint64_t samples, std::uint64_t period, bool shuffle, std::uint64_t seed,
          const ShardPart& part = {}, Subset subset = {})
      : samples_(samples),
        period_(period),
        seed_(seed),
        shuffle_(shuffle),
        part_(part),
        subset_(std::move(subset)) {
    if (part_.world == 1) part_.source_samples = samples;
  }

  /// The same of a source whose samples come by weight; `draws` outlives it.
  Sampler(std::uint64_t samples, std::uint64_t period, bool shuffle, std::uint64_t seed,
          const ShardPart& part, const Draws* draws)
      : Sampler(samples, period, shuffle, seed, part) {
    draws_ = draws;
  }

  std::uint64_t samples() const { return samples_; }
  std::uint64_t period() const { return period_; }

  /// Needs period() > 0. Padding where the index is >= samples().
  SamplePosition place(std::uint64_t number) const { return {number / period_, number % period_}; }

  /// Makes position() and id() answer for this epoch.
  void enter(std::uint64_t epoch) {
    if (draws_ != nullptr) shift_ = draws_->shift(static_cast<std::uint32_t>(epoch));
    if (!shuffle_ || (epoch == epoch_ && order_.size() != 0)) return;
    epoch_ = epoch;
    order_ = Permutation(part_.source_samples, seed_, static_cast<std::uint32_t>(epoch));
  }

  /// Which of the samples that all ranks together read, in the order of the source, is at `index`
  /// (< samples()) of the entered epoch.
  std::uint64_t position(std::uint64_t index) const {
    if (part_.world != 1) [[unlikely]]
      index = (index * part_.world + part_.rank) % part_.source_samples;
    return shuffle_ ? order_(index) : index;
  }

  /// Its index in the source; of one that comes by weight Draws::id().
  std::uint64_t id(std::uint64_t index) const {
    if (draws_ != nullptr) [[unlikely]]
      return draws_->id(position(index), shift_);
    return subset_(position(index));
  }

  /// In the source, of that id.
  std::uint64_t index(std::uint64_t id) const { return draws_ != nullptr ? draws_->index(id) : id; }

 private:
  std::uint64_t samples_ = 0;
  std::uint64_t period_ = 0;
  std::uint64_t seed_ = 0;
  bool shuffle_ = false;
  ShardPart part_;
  Subset subset_;
  const Draws* draws_ = nullptr;
  std::uint64_t shift_ = 0;  // of them, in this epoch
  std::uint64_t epoch_ = 0;
  Permutation order_;
};

/// Samples that each of `world` processes reads of a source. Errors: the source cannot be divided
/// and must be, or has fewer samples than there are processes and the rest would be dropped.
Result<std::uint64_t> shard_samples(std::uint64_t source_samples, const Shard& shard);

/// P: `samples` rounded up to a multiple of L.
constexpr std::uint64_t epoch_period(std::uint64_t samples, std::uint64_t multiple) {
  return (samples + multiple - 1) / multiple * multiple;
}

}  // namespace brigade
