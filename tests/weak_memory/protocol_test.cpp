#include "tests/weak_memory/line_program.h"

#include <gtest/gtest.h>
#include <cstdio>
#include <cstdlib>

namespace brigade::weak_memory {
namespace {

using support::StageSpec;

struct Case {
  const char* name;
  std::vector<StageSpec> stages;
  uint64_t samples;
  Bounds bounds;
  Weaker weaker = {};
};

model::Report explore(const Case& line) {
  LineProgram program(line.stages, line.samples);
  Machine machine(program, line.bounds, line.weaker);
  return machine.explore(20'000'000);
}

TEST(Try, Out) {
  const int switches = atoi(getenv("SW")), stale = atoi(getenv("ST"));
  const Bounds bounds{static_cast<uint8_t>(switches), static_cast<uint8_t>(stale)};
  const std::vector<Case> cases = {
      {"1_1", {{1, 1, 1, {}, true}, {1, 1, 0, {0}, true}}, 3, bounds},
      {"1_1_M2", {{1, 1, 2, {}, true}, {1, 1, 0, {0}, true}}, 4, bounds},
      {"1_2", {{1, 1, 2, {}, true}, {2, 1, 0, {0}}}, 2, bounds},
      {"1_2_3", {{1, 1, 2, {}, true}, {2, 1, 0, {0}}}, 3, bounds},
      {"2_1", {{2, 1, 2, {}}, {1, 1, 0, {0}, true}}, 2, bounds},
      {"2_1_3", {{2, 1, 2, {}}, {1, 1, 0, {0}, true}}, 3, bounds},
  };
  for (const Case& line : cases) {
    const auto report = explore(line);
    std::printf("%-10s %9llu states %10llu transitions depth %llu %.2f s %s\n", line.name,
                (unsigned long long)report.states, (unsigned long long)report.transitions,
                (unsigned long long)report.depth, report.seconds, report.violation.c_str());
    for (const auto& step : report.trace) std::printf("   %s\n", step.c_str());
  }
}

}  // namespace
}  // namespace brigade::weak_memory
