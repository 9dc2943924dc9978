#pragma once

// The policy that puts transports/ over the machine of machine.h: the same code, other words.

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <brigade/check.h>
#include "tests/weak_memory/machine.h"

namespace brigade::weak_memory {

struct RecordedPolicy {
  template <class T>
  class Atomic;

  /// The store of the running turn that has been put behind the next load; else no store.
  static inline Operation sunk = {};

  static void point(FaultPoint point) {
    if (Machine::active != nullptr) Machine::active->at_point(point);
  }
  static void relax() {}
  static void barrier_everywhere();
  static void keep_order() {}  // Machine::may_sink()
  static void sleep(Atomic<std::uint32_t>& word, std::uint32_t expected);
  static void wake(Atomic<std::uint32_t>& word);
};

/// Values fit into 32 bits where a thread writes them. A word without a number is never written
/// while threads run, unless it is ignored.
template <class T>
class RecordedPolicy::Atomic {
 public:
  Atomic(T value = 0) : value_(value) {}  // NOLINT: implicit, as std::atomic
  Atomic(const Atomic&) = delete;

  /// Gives the word its place in the machine.
  void number(int word) { word_ = static_cast<std::int8_t>(word); }
  int number() const { return word_; }
  /// Nothing depends on it: what is stored is left out.
  void ignore() { word_ = kIgnored; }
  T raw() const { return value_; }

  T load(std::memory_order order) const {
    if (Machine::active == nullptr || word_ < 0) return value_;
    const T loaded = run(Kind::kLoad, order, 0);
    if (sunk.kind == Kind::kStore) Machine::active->access(std::exchange(sunk, Operation{}));
    return loaded;
  }
  void store(T value, std::memory_order order) {
    if (Machine::active == nullptr) {
      value_ = value;
    } else if (word_ != kIgnored) {
      const Operation stored = operation(Kind::kStore, order, value);
      if (Machine::active->may_sink(stored)) {
        sunk = stored;
      } else {
        Machine::active->access(stored);
      }
    }
  }
  T exchange(T value, std::memory_order order) { return run(Kind::kExchange, order, value); }
  bool compare_exchange_strong(T& expected, T desired, std::memory_order order) {
    const T before = run(Kind::kCas, order, desired, expected);
    if (before == expected) return true;
    expected = before;
    return false;
  }
  T fetch_add(T value, std::memory_order order) { return run(Kind::kAdd, order, value); }
  T fetch_or(T value, std::memory_order order) { return run(Kind::kOr, order, value); }
  T fetch_and(T value, std::memory_order order) { return run(Kind::kAnd, order, value); }

  T run(Kind kind, std::memory_order order, T operand, T expected = 0) const {
    if (word_ == kIgnored) return value_;
    return static_cast<T>(Machine::active->access(operation(kind, order, operand, expected)));
  }

 private:
  static constexpr std::int8_t kIgnored = -2;

  Operation operation(Kind kind, std::memory_order order, T operand, T expected = 0) const {
    Operation operation;
    operation.kind = kind;
    operation.word = static_cast<std::uint8_t>(word_);
    operation.order = static_cast<std::uint8_t>(order);
    operation.operand = static_cast<std::uint32_t>(operand);
    operation.expected = static_cast<std::uint32_t>(expected);
    return operation;
  }

  T value_;
  std::int8_t word_ = -1;
};

/// A program whose words have names.
class NamedWords : public Program {
 public:
  int threads() const override { return 2; }
  void prepare(State& state) const override {
    for (std::size_t w = 0; w < words_.size(); ++w)
      state.memory.words[w].entries[0].value = words_[w].first;
  }
  std::string word_name(int word) const override {
    return words_[static_cast<std::size_t>(word)].name;
  }

 protected:
  struct Word {
    std::string name;
    std::uint32_t first = 0;
  };

  /// Its number.
  template <class T>
  int number(RecordedPolicy::Atomic<T>& word, const std::string& name) {
    word.number(static_cast<int>(words_.size()));
    words_.push_back({name, static_cast<std::uint32_t>(word.raw())});
    BRIGADE_CHECK(words_.size() <= kWords, words_.size());
    return word.number();
  }

  std::vector<Word> words_;
};

inline void RecordedPolicy::sleep(Atomic<std::uint32_t>& word, std::uint32_t expected) {
  word.run(Kind::kSleep, std::memory_order_relaxed, 0, expected);
}
inline void RecordedPolicy::barrier_everywhere() {
  Operation operation;
  operation.kind = Kind::kBarrier;
  Machine::active->access(operation);
}
inline void RecordedPolicy::wake(Atomic<std::uint32_t>& word) {
  word.run(Kind::kWake, std::memory_order_relaxed, 0);
}

}  // namespace brigade::weak_memory
