#pragma once

// Two ways through the choices of a scenario: all of them up to a number of detours from taking
// turns (most faults need very few: Emmi, Qadeer and Rakamaric, "Delay-bounded scheduling", POPL
// 2011), with a death at every step beside that; and random walks that know no bound.

#include <cstdint>
#include <random>
#include <string>
#include <unordered_set>
#include <vector>

#include "tests/transports/stepping/stepped_line.h"

namespace brigade::stepping {

struct Exploration {
  std::uint64_t runs = 0;
  std::uint64_t states = 0;
  bool complete = false;  ///< every choice was tried
  std::string failure;    ///< of the first run that failed, with its steps
};

/// Depth first over all choices, once from each state. A state is known by 64 bits: with a million
/// of them the chance that two share one is below 1 in 10 million.
class Enumeration : public Chooser {
 public:
  bool wants_state() const override { return at_ == taken_.size(); }
  bool is_known(std::uint64_t state) override { return !known_.insert(state).second; }
  std::size_t states() const { return known_.size(); }

  int choose(int count) override {
    if (at_ == taken_.size()) taken_.push_back({count, 0});
    return taken_[at_++].choice;
  }
  /// Prepares the next run; false when there is none.
  bool next() {
    at_ = 0;
    while (!taken_.empty() && taken_.back().choice + 1 == taken_.back().count) taken_.pop_back();
    if (taken_.empty()) return false;
    ++taken_.back().choice;
    return true;
  }

 private:
  struct Taken {
    int count;
    int choice;
  };
  std::vector<Taken> taken_;
  std::unordered_set<std::uint64_t> known_;
  std::size_t at_ = 0;
};

/// Goes on with the same fiber most of the time.
class RandomWalk : public Chooser {
 public:
  explicit RandomWalk(std::uint64_t seed) : random_(seed), inertia_(2 + seed % 40) {}
  int choose(int count) override {
    if (random_() % inertia_ != 0) return 0;
    return static_cast<int>(random_() % static_cast<std::uint64_t>(count));
  }

 private:
  std::mt19937_64 random_;
  std::uint64_t inertia_;
};

template <class Line = SteppedLine, class Of = Scenario>
Exploration enumerate(const Of& scenario, std::uint64_t runs_max) {
  Line line(scenario);
  Enumeration choices;
  Exploration found;
  do {
    ++found.runs;
    const std::string failure = line.run(choices);
    if (!failure.empty()) {
      found.failure = failure + line.trace();
      return found;
    }
    found.complete = !choices.next();
  } while (!found.complete && found.runs < runs_max);
  found.states = choices.states();
  return found;
}

template <class Line = SteppedLine, class Of = Scenario>
Exploration walk(Of scenario, std::uint64_t first_seed, std::uint64_t runs) {
  scenario.detours = 1 << 20;
  Line line(scenario);
  Exploration found;
  for (; found.runs < runs; ++found.runs) {
    RandomWalk choices(first_seed + found.runs);
    const std::string failure = line.run(choices);
    if (!failure.empty()) {
      found.failure =
          "seed " + std::to_string(first_seed + found.runs) + ": " + failure + line.trace();
      return found;
    }
  }
  return found;
}

}  // namespace brigade::stepping
