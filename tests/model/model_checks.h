#pragma once

// What the tests of the model share: exploring a scenario and telling the outcome.

#include <cstdio>
#include <ostream>
#include <string>

#include <gtest/gtest.h>

#include "tests/model/protocol.h"
#include "tests/model/scenario.h"

namespace brigade::model {

// Sanitizers and unoptimised builds are up to 30 times slower: there, only what is small.
#if defined(__OPTIMIZE__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
inline constexpr bool kFastBuild = true;
#else
inline constexpr bool kFastBuild = false;
#endif
inline bool too_large_for_this_build(const Scenario& scenario) {
  constexpr uint64_t kStatesMaxSlowBuild = 200'000;
  return !kFastBuild && scenario.states_min > kStatesMaxSlowBuild;
}

// CTest names the cases by this.
inline void PrintTo(const Scenario& scenario, std::ostream* out) { *out << scenario.name; }

inline void print(const Scenario& scenario, const Report& report) {
  std::printf("%-28s %9llu states %10llu transitions  depth %3llu  %6.2f s  %s\n", scenario.name,
              static_cast<unsigned long long>(report.states),
              static_cast<unsigned long long>(report.transitions),
              static_cast<unsigned long long>(report.depth), report.seconds, scenario.about);
}

inline std::string story(const Report& report) {
  std::string text = report.violation + "\n";
  for (size_t i = 0; i < report.trace.size(); ++i) {
    text += "  " + std::to_string(i + 1) + "  " + report.trace[i] + "\n";
  }
  return text;
}

inline void expect_every_property_holds(const Scenario& scenario, uint64_t states_max) {
  const Report report = check(scenario, states_max, Trace::kShortest);
  print(scenario, report);
  EXPECT_EQ(report.violation, "") << story(report);
  EXPECT_GE(report.states, scenario.states_min);
  EXPECT_GE(report.endings, 1u) << "no run came to its end";
}

}  // namespace brigade::model
