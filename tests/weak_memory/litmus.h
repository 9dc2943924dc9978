#pragma once

// Litmus tests: a few accesses in each of two to four threads, and every outcome there is.

#include <array>
#include <functional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <brigade/text.h>
#include "tests/weak_memory/recorded_policy.h"

namespace brigade::weak_memory {

using LitmusWord = RecordedPolicy::Atomic<uint32_t>;

/// The words of a litmus test, all 0 at first, and one slot.
struct LitmusWords {
  std::array<LitmusWord, 3> words;
  LitmusWord &x = words[0], &y = words[1], &z = words[2];

  static void note(int reg, uint32_t value) { Machine::active->note(reg, value); }
};

/// What a thread does, one after the other.
using Step = std::function<void(LitmusWords&)>;

inline constexpr std::size_t kX = 0, kY = 1;
inline Step store(std::size_t word, uint32_t value, std::memory_order order) {
  return [=](LitmusWords& w) { w.words[word].store(value, order); };
}
inline Step load(int reg, std::size_t word, std::memory_order order) {
  return [=](LitmusWords& w) { w.note(reg, w.words[word].load(order)); };
}
inline void read_slot(LitmusWords&) { Machine::active->use_slot(false, 0, 1); }
inline void write_slot(LitmusWords&) { Machine::active->use_slot(true, 0, 1); }

class Litmus : public Program {
 public:
  using Thread = std::vector<Step>;

  explicit Litmus(std::vector<Thread> threads) : threads_(std::move(threads)) {
    for (int w = 0; w < 3; ++w) shared_.words[static_cast<size_t>(w)].number(w);
  }

  int threads() const override { return static_cast<int>(threads_.size()); }
  bool turn(int thread, uint16_t&) override {
    for (const Step& step : threads_[static_cast<size_t>(thread)]) step(shared_);
    return false;
  }
  Access name(int, const Operation&, FaultPoint) const override { return Access::kNone; }
  void prepare(State&) const override {}
  const char* at_end(const State& state) const override {
    std::string outcome;
    for (const uint8_t value : state.registers) outcome += concat(int{value});
    outcomes_.insert(outcome);
    return nullptr;
  }
  std::string word_name(int word) const override { return std::string(1, "xyz"[word]); }
  std::string thread_name(int thread) const override { return concat("thread ", thread); }

  const std::set<std::string>& outcomes() const { return outcomes_; }

 private:
  std::vector<Thread> threads_;
  LitmusWords shared_;
  mutable std::set<std::string> outcomes_;
};

/// The values of the four registers in every outcome, as text; a violation in its place.
inline std::set<std::string> outcomes_of(std::vector<Litmus::Thread> threads) {
  Litmus litmus(std::move(threads));
  Machine machine(litmus, {});
  const Report report = machine.explore(1'000'000);
  if (!report.violation.empty()) return {report.violation};
  return litmus.outcomes();
}

}  // namespace brigade::weak_memory
