#include "tests/weak_memory/explorer.h"

#include <gtest/gtest.h>

namespace brigade::weak_memory {
namespace {

// Two counters that count up to `limit`; what happens there is up to `Rule`.
enum class Rule { kNone, kStuckAtThree, kStartsOver, kForbidsBothAtTwo };

struct Counters {
  struct State {
    uint32_t one = 0;
    uint32_t other = 0;
  };
  uint32_t limit;
  Rule rule;

  State initial() const { return {}; }
  bool moves(const State& state, std::vector<Move>& moves) const {
    const bool stuck = rule == Rule::kStuckAtThree && state.one == 3;
    if (!stuck && state.one < limit) moves.push_back({0, 0});
    if (!stuck && state.other < limit) moves.push_back({1, 0});
    if (rule == Rule::kStartsOver && state.one == limit) moves.push_back({2, 0});
    return !moves.empty();
  }
  const char* apply(State& state, Move move) const {
    if (move.actor == 0) ++state.one;
    if (move.actor == 1) ++state.other;
    if (move.actor == 2) state.one = 0;
    const bool both = state.one == 2 && state.other == 2;
    return rule == Rule::kForbidsBothAtTwo && both ? "both are two" : nullptr;
  }
  const char* at_rest(const State& state) const {
    return state.one == limit && state.other == limit ? nullptr : "stuck";
  }
  uint64_t print(const State& state) const { return fingerprint(state); }
  std::string describe(const State&, Move move, const State&) const {
    return "counter " + std::to_string(move.actor);
  }
};

Report explore(uint32_t limit, Rule rule, uint64_t states_max = 1'000'000) {
  const Counters counters{limit, rule};
  return Explorer<Counters>(counters, states_max).explore();
}

TEST(Explorer, VisitsEveryStateAndEveryTransitionOnce) {
  const Report report = explore(300, Rule::kNone);  // several times the first table
  EXPECT_EQ(report.violation, "");
  EXPECT_EQ(report.states, 301u * 301u);
  EXPECT_EQ(report.transitions, 2u * 300u * 301u);
  EXPECT_EQ(report.endings, 1u);
  EXPECT_EQ(report.depth, 601u);
}

TEST(Explorer, FindsAStateFromWhichNothingMoves) {
  const Report report = explore(5, Rule::kStuckAtThree);
  EXPECT_EQ(report.violation, "stuck");
  EXPECT_EQ(report.trace, std::vector<std::string>(3, "counter 0"));
}

TEST(Explorer, FindsARunThatNeverEnds) {
  EXPECT_EQ(explore(5, Rule::kStartsOver).violation, "a cycle: this run never ends");
}

TEST(Explorer, TellsAViolationByAShortestTrace) {
  const Report report = explore(9, Rule::kForbidsBothAtTwo);
  EXPECT_EQ(report.violation, "both are two");
  EXPECT_EQ(report.trace.size(), 4u);
}

TEST(Explorer, SaysWhenThereAreMoreStatesThanAllowed) {
  EXPECT_EQ(explore(99, Rule::kNone, 500).violation, "more states than the scenario's limit");
}

}  // namespace
}  // namespace brigade::weak_memory
