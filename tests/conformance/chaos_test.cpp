// Real graphs while their processes are killed with SIGKILL, at random moments and whichever it
// hits: every consumer sees what the plain loop says, exactly once, and the books balance. With
// consumers killed, too, a call may come again (effects outside the graph are at least once), but
// none is missing and none is different.

#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>

#include "tests/conformance/line_run.h"
#include "tests/conformance/shapes.h"
#include "tests/conformance/shapes_of_unknown_length.h"

namespace brigade::conformance {
namespace {

constexpr int kKillsPerRun = 12;

#ifndef BRIGADE_CHAOS_KILLS
#define BRIGADE_CHAOS_KILLS 400
#endif
constexpr int kKills = BRIGADE_CHAOS_KILLS;  // of each test, at least

std::string disturbed(const std::string& yaml, const Disturbance& disturbance, int& kills) {
  LineRun line;
  const std::string mistakes = line.prepare(yaml);
  if (!mistakes.empty()) return "the graph is not valid: " + mistakes;
  const PlainLoop plain(line.graph(), line.plan());
  line.run(disturbance);
  kills += line.kills();
  return line.difference_to(plain, disturbance.consumers);
}

/// Rounds over all shapes until there were enough kills.
void kill_many(bool consumers, int wanted) {
  int kills = 0;
  for (std::uint64_t round = 0; kills < wanted; ++round) {
    const int before = kills;
    const auto try_shape = [&](const ShapeOfLine& shape) {
      const int replicas = round % 2 == 0 ? 2 : 1 + static_cast<int>(round % 4);
      const int batch = round % 3 == 0 ? 7 : 16;
      Disturbance disturbance;
      disturbance.kills = kKillsPerRun;
      disturbance.consumers = consumers;
      disturbance.seed = 1000 * round + static_cast<std::uint64_t>(kills);
      const std::string yaml = shape_yaml(shape, replicas, batch);
      ASSERT_EQ(disturbed(yaml, disturbance, kills), "")
          << shape.name << ", seed " << disturbance.seed << yaml;
    };
    for (const ShapeOfLine& shape : kShapes) {
      try_shape(shape);
      if (testing::Test::HasFatalFailure()) return;
    }
    for (const ShapeOfLine& shape : kShapesOfUnknownLength) {
      try_shape(shape);
      if (testing::Test::HasFatalFailure()) return;
    }
    ASSERT_GT(kills, before) << "nobody could be killed";
  }
  std::printf("%d kills\n", kills);
}

TEST(Chaos, NothingIsLostOrRepeatedWhenProducersAndTransformsAreKilled) {
  kill_many(false, kKills);
}

TEST(Chaos, NothingIsLostWhenConsumersAreKilledToo) { kill_many(true, kKills); }

// --- the tests of the tests: with a rule of the repair off, runs with deaths must fail

struct Control {
  const char* name;
  bool RepairRules::*rule;
  const char* fault;  // where a worker dies
  bool degrade;       // it is not started again: a new one would look at everything anew
  int samples = 60;
  int passages = 70;  // of that point, at most
};

constexpr Control kControls[] = {
    {"Reopen", &RepairRules::reopen, "sifted.0=claim.after_cas", false},
    // Only the last task of all: whoever finishes a later one moves the mark on for the dead, too.
    {"Advance", &RepairRules::advance, "sifted.0=finish.after_done", false, 8, 4},
    {"Count", &RepairRules::count, "sifted.0=claim.after_cas", true},
    {"Settle", &RepairRules::settle, "sifted.0=finish.after_tally", false},
    {"Ring", &RepairRules::ring, "slow.0=wake.before_bell", false, 4, 16},
};

class WithoutARule : public testing::TestWithParam<Control> {
 protected:
  ~WithoutARule() override { unsetenv("BRIGADE_FAULT"); }

  /// One run in which a worker dies when it passes a point for the nth time.
  static std::string run(const Control& control, int nth, const RepairRules& rules) {
    constexpr ShapeOfLine kLine = {"", R"(
  numbers: {producer: synthetic, params: {count: 60, shape: [3]}, limit: N, shuffle: true}
  slow: {transform: delay, from: numbers, params: {ms: 0.25}, rows: 1}
  sifted: {transform: sift, from: slow, params: {every: 4, rest: 2}, rows: 2, replicas: R}
  end: {consumer: record, from: {stage: sifted, batch: B}, params: {folder: "${RECORDS}"}}
)"};
    setenv("BRIGADE_FAULT", concat(control.fault, ':', nth, ":kill").c_str(), 1);
    Disturbance disturbance;
    disturbance.rules = rules;
    disturbance.degrade = control.degrade;
    disturbance.hangs_after_s = 3;
    int kills = 0;
    std::string yaml = shape_yaml(kLine, 2, 4);
    yaml.replace(yaml.find("limit: N"), 8, concat("limit: ", control.samples));
    return disturbed(yaml, disturbance, kills);
  }
};

constexpr int kRuns = 300;

TEST_P(WithoutARule, SomeRunFails) {
  RepairRules rules;
  rules.*GetParam().rule = false;
  for (int i = 0; i < kRuns; ++i) {
    if (!run(GetParam(), i % GetParam().passages + 1, rules).empty()) return;
  }
  FAIL() << "nothing was noticed";
}

TEST_P(WithoutARule, WithItNoneDoes) {
  for (int nth = 1; nth <= GetParam().passages; nth += 3)
    EXPECT_EQ(run(GetParam(), nth, {}), "") << nth;
}

INSTANTIATE_TEST_SUITE_P(Rules, WithoutARule, testing::ValuesIn(kControls),
                         [](const auto& control) { return std::string(control.param.name); });

}  // namespace
}  // namespace brigade::conformance
