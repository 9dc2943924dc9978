#pragma once

// The samples of its source that a stage reads, and their indices in it: those that `skip:`,
// `split:` with `part:`, and `limit:` leave, in this order. A function of these keys, of seeds
// and of the number of samples in the source: nothing is stored per sample, any sample can be
// computed, and every process and rank finds the same. Samples keep the order of the source.
//
// A selection (the smaller part, the samples of a limit) takes one sample of each run of
// neighbors in the source: a source that is sorted by class keeps the share of every
// class. Parts of one split are disjoint and complete, because each part is selected from
// the samples that earlier parts left. Users rely on the result: it must not change.
//
// A value; any thread.

#include <cstdint>
#include <vector>

#include "pipeline/plan/plan.h"

namespace brigade {

/// `size` samples in two parts: the source is cut into as many runs as the smaller part has
/// samples, and gives it one of each run, drawn by `key`. `chosen` <= `size` <= 2^48.
class TwoParts {
 public:
  TwoParts(std::uint64_t size, std::uint64_t chosen, std::uint64_t key);

  /// The i-th of the chosen, or of the others, in the order of the source.
  std::uint64_t chosen(std::uint64_t i) const { return chosen_is_small_ ? small(i) : large(i); }
  std::uint64_t other(std::uint64_t i) const { return chosen_is_small_ ? large(i) : small(i); }

 private:
  std::uint64_t run_begin(std::uint64_t run) const;
  std::uint64_t small(std::uint64_t i) const;
  std::uint64_t large(std::uint64_t i) const;

  std::uint64_t size_;
  std::uint64_t runs_;
  std::uint64_t key_;
  bool chosen_is_small_;
};

class Subset {
 public:
  /// Nothing.
  Subset() = default;
  /// Of `found` samples. `seed`: the stage's.
  Subset(const StageKeys& keys, std::uint64_t seed, std::uint64_t found);

  std::uint64_t size() const { return size_; }
  /// Where the sample at `position` (< size()) lies in the source.
  std::uint64_t operator()(std::uint64_t position) const {
    return is_front() ? position : source_index(position);
  }
  /// Whether positions are indices of the source: it is its front, or all of it.
  bool is_front() const { return steps_.empty() && skipped_ == 0; }

  // Of what was found and is not there: by `skip:`, in other parts of `split:`, by `limit:`.
  std::uint64_t skipped() const { return skipped_; }
  std::uint64_t in_other_parts() const { return in_other_parts_; }
  std::uint64_t behind_limit() const { return behind_limit_; }

 private:
  /// A part of what the step before it has left.
  struct Step {
    TwoParts parts;
    bool chosen;
  };

  void take_part(const Split& split, const std::string& part);
  void take_limit(const StageKeys& keys, std::uint64_t seed);
  std::uint64_t source_index(std::uint64_t position) const;

  std::uint64_t size_ = 0;
  std::uint64_t skipped_ = 0;
  std::uint64_t in_other_parts_ = 0;
  std::uint64_t behind_limit_ = 0;
  std::vector<Step> steps_;
};

/// Whether its limit takes samples from all over what there is.
bool is_spread(const StageKeys& keys);

/// Whether what it reads lies side by side in the source, from some sample on.
bool reads_neighbours(const StageKeys& keys);

/// Subset::is_front(), for any number of samples.
bool is_front(const StageKeys& keys);

/// Whether an epoch has each of these samples as often as its weight says (records/draws.h), and
/// not once.
bool is_drawn(const StageKeys& keys);

/// Samples of an epoch of all ranks, where `size` are read; 0: their labels decide it, or `size`.
std::uint64_t epoch_samples(const StageKeys& keys, std::uint64_t size);

/// Of `samples`; at least one where there are any.
std::uint64_t limited(const SampleLimit& limit, std::uint64_t samples);

/// Of `samples`, by rounding.
std::uint64_t samples_of_share(std::uint64_t share, std::uint64_t samples);

}  // namespace brigade
