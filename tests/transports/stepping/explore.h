#pragma once

// Two ways through the choices of a scenario: all of them up to a number of detours from taking
// turns (most faults need very few: Emmi, Qadeer and Rakamaric, "Delay-bounded scheduling", POPL
// 2011), with a death at every step beside that; and random walks that know no bound.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <iostream>
#include <random>
#include <string>
#include <unordered_set>
#include <vector>

#include "tests/transports/stepping/effort.h"
#include "tests/transports/stepping/stepped_run.h"

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

template <class Of>
Exploration enumerate(const Of& scenario, std::uint64_t runs_max) {
  typename Of::Run line(scenario);
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

template <class Of>
Exploration walk(Of scenario, std::uint64_t first_seed, std::uint64_t runs) {
  scenario.detours = 1 << 20;
  typename Of::Run line(scenario);
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

/// Nothing fails in any order of steps up to the scenario's detours with this wake order, nor in
/// random walks. Returns how many runs the first took.
template <class Of>
std::uint64_t expect_good_in(WakeOrder order, Of made, std::uint64_t runs_max) {
  made.wake_order = order;
  const char* const payer = order == WakeOrder::by_sleeper ? "sleepers" : "finishers";
  const Exploration all = enumerate(made, runs_max);
  EXPECT_EQ(all.failure, "") << made.name << ", " << payer << " pay";
  std::cout << "  " << made.name << (made.stop ? ", stopped" : "") << ", victim in stage "
            << made.victim_stage.value() << (made.restart ? "" : " (gone)") << ", " << made.detours
            << " detours, " << payer << " pay: " << all.runs << " runs, " << all.states << " states"
            << (all.complete ? "" : " (cut)") << "\n";
  const Exploration some = walk(made, 1, kEffort.random_runs / 2);
  EXPECT_EQ(some.failure, "") << made.name << ", " << payer << " pay";
  return all.runs;
}

/// The order that has the larger share of a scenario's runs: in turns from one to the next.
inline WakeOrder first_order(const Events& events) {
  std::uint64_t sum = static_cast<std::uint64_t>(events.victim_stage.value() + 1) + events.stop;
  for (const char letter : events.name) sum += static_cast<unsigned char>(letter);
  return sum % 2 == 0 ? WakeOrder::by_finisher : WakeOrder::by_sleeper;
}

/// With both wake orders. The second has what the first left of the runs, or its own minimum.
template <class Of>
void expect_good(const Of& made) {
  const WakeOrder first = first_order(made);
  const WakeOrder second =
      first == WakeOrder::by_sleeper ? WakeOrder::by_finisher : WakeOrder::by_sleeper;
  const std::uint64_t runs = expect_good_in(first, made, kEffort.runs_max);
  expect_good_in(second, made, std::max(kEffort.runs_max - runs, kEffort.runs_of_second_order));
}

/// What comes of a mistake, with as few detours as it takes.
template <class Of>
std::string caught(Of made) {
  for (made.detours = 0; made.detours <= 2; ++made.detours) {
    const Exploration all = enumerate(made, 200'000);
    if (!all.failure.empty()) return all.failure.substr(0, all.failure.find('\n'));
  }
  return "nothing";
}

}  // namespace brigade::stepping
