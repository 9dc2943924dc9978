#pragma once

// The number of times that each sample of a source occurs in an epoch, if it is not one:
// systematic sampling (Madow and Madow, "On the theory of systematic sampling", 1944; with
// unequal chances: Madow 1949). Weights are consecutive intervals of a line, in the order of the
// source; an epoch of n samples takes n places of it at equal distances. It therefore has exactly
// n samples, and each of them occurs n * weight / sum of all weights times, rounded down or up;
// the position of the first place, the shift, decides which. The shift advances from epoch to
// epoch by the golden ratio of the distance between two places, from a start drawn by the seed:
// each epoch is exact in expectation, and over epochs the counts stay close to their expectation.
//
// Any draw can be computed, in O(log N); 8 bytes are kept per sample. Users rely on
// the result: the arithmetic is on integers, except for one rounding of each weight.
//
// A value; any thread.

#include <cstdint>
#include <utility>
#include <vector>

#include "pipeline/plan/subset.h"

namespace brigade {

class Draws {
 public:
  Draws() = default;
  /// `weights`: of the samples of `subset`, by their positions: not negative, some above 0, and
  /// their sum is finite. `size`: samples of an epoch, from 1 to 2^48. `found`: samples of the
  /// source.
  Draws(const std::vector<double>& weights, std::uint64_t size, std::uint64_t seed,
        std::uint64_t found, Subset subset);

  std::uint64_t size() const { return size_; }

  /// Where an epoch begins.
  std::uint64_t shift(std::uint32_t epoch) const;

  /// What the `draw`-th (< size()) of an epoch is, in the order of the source: index(id) is the
  /// sample's index, and a sample that comes several times in an epoch has as many ids.
  std::uint64_t id(std::uint64_t draw, std::uint64_t shift) const;
  std::uint64_t index(std::uint64_t id) const { return id % found_; }

  /// Changes when anything of it changes.
  std::uint64_t hash() const;

 private:
  std::uint64_t size_ = 0;
  std::uint64_t seed_ = 0;
  std::uint64_t found_ = 1;
  Subset subset_;
  std::vector<std::uint64_t> ends_;  // of the samples' stretches; the last: of the line
};

}  // namespace brigade
