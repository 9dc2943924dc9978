#pragma once

// What the tests of lines share: exploring one and telling the outcome.

#include <cstdio>
#include <ostream>
#include <string>

#include <gtest/gtest.h>

#include "tests/weak_memory/lines.h"

namespace brigade::weak_memory {

// Sanitizers and unoptimised builds are up to 30 times slower: there, only what is small.
#if defined(__OPTIMIZE__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
inline constexpr bool kFastBuild = true;
#else
inline constexpr bool kFastBuild = false;
#endif

// CTest names the cases by this.
inline void PrintTo(const LineCase& line, std::ostream* out) { *out << line.name; }

inline void PrintTo(const WeakerCase& weaker, std::ostream* out) {
  *out << name_of(weaker.weaker.access) << "_" << static_cast<int>(weaker.weaker.order);
}

inline void print(const char* name, const Report& report) {
  std::printf("%-28s %9llu states %10llu transitions  depth %3llu  %6.2f s\n", name,
              static_cast<unsigned long long>(report.states),
              static_cast<unsigned long long>(report.transitions),
              static_cast<unsigned long long>(report.depth), report.seconds);
}

inline void expect_good(const LineCase& line, std::uint64_t states_max) {
  const Report report = explore(line, {}, states_max, Trace::kShortest);
  print(line.name, report);
  std::string story = report.violation + "\n";
  for (const std::string& step : report.trace) story += "  " + step + "\n";
  EXPECT_EQ(report.violation, "") << story;
  EXPECT_GE(report.states, line.states_min);
  EXPECT_GE(report.endings, 1u);
}

}  // namespace brigade::weak_memory
