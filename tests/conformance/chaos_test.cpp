// Real graphs while their processes are killed, stand still and are late, at random moments and at
// every fault point, whichever it hits: every consumer sees what the plain loop says, exactly once,
// and the audit balances. With consumers killed, too, a call may come again (effects outside the
// graph are at least once), but none is missing and none is different.
//
// BRIGADE_CHAOS_SECONDS=N in the environment: AllOfItAtOnce goes on for so long.

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <set>

#include "tests/conformance/line_run.h"
#include "tests/conformance/yaml/shapes.h"
#include "transports/fault_points.h"

namespace brigade::conformance {
namespace {

constexpr int kKillsPerRun = 12;
constexpr int kStopsPerRun = 12;

#ifndef BRIGADE_CHAOS_KILLS
#define BRIGADE_CHAOS_KILLS 400
#endif
constexpr int kKills = BRIGADE_CHAOS_KILLS;  // of each test, at least

/// What the runs of a test were made of.
struct Total {
  int runs = 0;
  Disturbed done;
  std::set<std::string> faults;  ///< points with their actions

  void add(const Disturbed& run) {
    ++runs;
    done.kills += run.kills;
    done.stops += run.stops;
    done.stops_at_points += run.stops_at_points;
  }
  void print() const {
    std::printf("%d runs, %d kills, %d stops from outside and %d at points, %zu faults\n", runs,
                done.kills, done.stops, done.stops_at_points, faults.size());
  }
};

using Disturb = std::function<Disturbance(const Plan& plan, std::uint64_t seed)>;

/// What of a graph is this program's own.
struct Applications {
  std::uint64_t hold = 0;  ///< in the place of consumers that record, and may hold so much; 0: none
  std::set<std::string> inputs = {};  ///< in the place of these producers
};

std::string disturbed(const std::string& yaml, std::uint64_t seed, const Disturb& disturb,
                      Total& total, const Applications& applications = {}) {
  const auto& [hold, inputs] = applications;
  LineRun line;
  const Rings rings = seed % 2 == 0 ? Rings::as_planned : Rings::smallest;
  const std::string mistakes = line.prepare(yaml, hold, inputs, rings);
  if (!mistakes.empty()) return "the graph is not valid: " + mistakes;
  const PlainLoop plain(line.graph(), line.plan(), line.feeds());
  const Disturbance disturbance = disturb(line.plan(), seed);
  if (hold > 0 || !inputs.empty()) {
    line.run_as_program(false, seed, disturbance);
  } else {
    line.run(disturbance);
  }
  total.add(line.disturbed());
  const std::string wrong = line.difference_to(plain, disturbance.consumers);
  if (wrong.empty()) return "";
  return concat(wrong, "\nseed ", seed, ", faults ", quote(disturbance.faults), ", in repairs ",
                quote(disturbance.repairs), yaml);
}

/// What may be this program's own: outputs hold at most so much (0: none are), and of the choices
/// of inputs each comes in its round; a shape without inputs is left out.
struct Programs {
  std::uint64_t hold_max = 0;
  bool feeds = false;
  bool keeps = false;  ///< consumers keep their batches
};

/// One run of every shape.
void disturb_all_shapes(std::uint64_t round, const Disturb& disturb, Total& total,
                        const Programs& programs = {}) {
  const auto try_shape = [&](const ShapeOfLine& shape) {
    const int replicas = round % 2 == 0 ? 2 : 1 + static_cast<int>(round % 4);
    const int batch = round % 3 == 0 ? 7 : 16;
    const std::uint64_t seed = 1000 * round + static_cast<std::uint64_t>(total.runs);
    const std::string plain = shape_yaml(shape, replicas, batch);
    const std::string yaml = programs.keeps ? keeping(plain) : plain;
    Applications own;
    if (programs.hold_max > 0) own.hold = 1 + seed % programs.hold_max;
    if (programs.feeds) {
      const auto choices = choices_of_inputs(yaml);
      if (choices.empty()) return;
      own.inputs = choices[round % choices.size()];
      if (round % 2 == 0) own.hold = 0;
    }
    ASSERT_EQ(disturbed(yaml, seed, disturb, total, own), "")
        << shape.name << ", inputs " << testing::PrintToString(own.inputs);
  };
  for (const ShapeOfLine& shape : all_shapes()) {
    try_shape(shape);
    if (testing::Test::HasFatalFailure()) return;
  }
}

/// Rounds over all shapes until there were enough kills.
void kill_many(bool consumers, int wanted, const Programs& programs = {}) {
  Total total;
  const auto disturb = [&](const Plan&, std::uint64_t seed) {
    Disturbance disturbance;
    disturbance.kills = kKillsPerRun;
    disturbance.consumers = consumers;
    disturbance.seed = seed;
    return disturbance;
  };
  for (std::uint64_t round = 0; total.done.kills < wanted; ++round) {
    const int before = total.done.kills;
    disturb_all_shapes(round, disturb, total, programs);
    if (testing::Test::HasFatalFailure()) return;
    ASSERT_GT(total.done.kills, before) << "nobody could be killed";
  }
  total.print();
}

TEST(Chaos, NothingIsLostOrRepeatedWhenProducersAndTransformsAreKilled) {
  kill_many(false, kKills);
}

TEST(Chaos, NothingIsLostWhenConsumersAreKilledToo) { kill_many(true, kKills); }

TEST(Chaos, NothingIsLostWhenConsumersThatKeepBatchesAreKilledToo) {
  kill_many(true, kKills / 2, {.keeps = true});
}

constexpr std::uint64_t kHoldMax = 5;

TEST(Chaos, AProgramReadsTheSameWhileWorkersAreKilled) { kill_many(false, kKills, {kHoldMax}); }

TEST(Chaos, AProgramFeedsTheSameWhileWorkersAreKilled) {
  kill_many(false, kKills, {kHoldMax, true});
}

// --- with every worker late, or standing still, at a point of its own, and repairs late, too

constexpr auto kPointsOfWorkers = static_cast<std::size_t>(kFirstPointOfRepair);
constexpr auto kPoints = static_cast<std::size_t>(FaultPoint::count_);

std::string point_name(std::size_t point) {
  return std::string(fault_point_name(static_cast<FaultPoint>(point)));
}

/// In turn, so that every point and action comes up.
class FaultsInTurn {
 public:
  std::string for_workers(const Plan& plan, std::set<std::string>& used) {
    std::string faults;
    for (const PlanStage& stage : plan.stages) {
      for (int replica = 0; replica < stage.replicas; ++replica) {
        const std::size_t point = worker_ % kPointsOfWorkers;
        const bool stop = worker_ / kPointsOfWorkers % 3 == 2;
        const std::size_t every = stop ? 20 + worker_ % 50 : 1 + worker_ % 23;
        ++worker_;
        faults += concat(faults.empty() ? "" : ",", stage.name, '.', replica, '=',
                         point_name(point), ':', every, stop ? "+:stop" : "+:delay");
        used.insert(concat(point_name(point), stop ? " stop" : " delay"));
      }
    }
    return faults;
  }

  std::string for_repairs(std::set<std::string>& used) {
    const std::size_t point = kPointsOfWorkers + repair_++ % (kPoints - kPointsOfWorkers);
    used.insert(point_name(point) + " delay");
    return point_name(point) + ":1+:delay";
  }

 private:
  std::size_t worker_ = 0;
  std::size_t repair_ = 0;
};

TEST(Chaos, AllOfItAtOnceLosesNothing) {
  const char* const given = std::getenv("BRIGADE_CHAOS_SECONDS");
  const auto until =
      std::chrono::steady_clock::now() + std::chrono::seconds(given ? std::atoi(given) : 0);
  Total total;
  FaultsInTurn faults;
  const auto disturb = [&](const Plan& plan, std::uint64_t seed) {
    Disturbance disturbance;
    disturbance.kills = kKillsPerRun;
    disturbance.consumers = seed % 2 == 1;
    disturbance.stops = kStopsPerRun;
    disturbance.faults = faults.for_workers(plan, total.faults);
    disturbance.repairs = faults.for_repairs(total.faults);
    disturbance.seed = seed;
    return disturbance;
  };
  std::uint64_t round = 0;
  do {
    disturb_all_shapes(round++, disturb, total);
    if (testing::Test::HasFatalFailure()) return;
    total.print();
  } while (std::chrono::steady_clock::now() < until);
  EXPECT_EQ(total.faults.size(), kPoints + kPointsOfWorkers) << "some fault never came up";
  EXPECT_GT(total.done.kills, 0);
  EXPECT_GT(total.done.stops, 0);
  EXPECT_GT(total.done.stops_at_points, 0);
}

/// Where an epoch needs no padding, its end and the first sample of the next one come at any
/// moment, also between two looks of a reader: readers are late there, others later than usual with
/// work.
TEST(Chaos, EpochsWithoutPaddingKeepTheirTurns) {
  Total total;
  for (const ShapeOfLine& shape : shapes_of_unknown_length()) {
    if (!shape.name.ends_with("WholeBatches")) continue;
    for (std::uint64_t seed = 0; seed < kKills / 100; ++seed) {
      const auto disturb = [&](const Plan& plan, std::uint64_t) {
        Disturbance disturbance;
        for (const PlanStage& stage : plan.stages) {
          for (int replica = 0; replica < stage.replicas; ++replica) {
            const char* const fault = stage.kind == StageKind::consumer ? "=claim.start:1+:nap"
                                      : stage.flat_map_outputs > 0      ? "=claim.start:2+:nap"
                                                                        : "=work.start:1+:delay";
            disturbance.faults +=
                concat(disturbance.faults.empty() ? "" : ",", stage.name, '.', replica, fault);
          }
        }
        return disturbance;
      };
      const std::string yaml =
          shape_yaml(shape, 1 + static_cast<int>(seed % 2), seed % 3 == 0 ? 7 : 1);
      EXPECT_EQ(disturbed(yaml, seed, disturb, total), "") << shape.name;
    }
  }
  total.print();
}

// --- the tests of the tests: with a rule of the repair off, runs with deaths must fail

enum class How {
  killed_there,  ///< a worker dies when it passes a point for the nth time
  late_there,    ///< it is late at every nth passage, and killed from outside
  still_there    ///< it stops at every nth passage, and is killed from outside
};

struct Control {
  const char* name;
  bool RepairRules::*rule;
  const char* worker;
  const char* point;
  bool degrade;  // it is not started again: a new one would look at everything anew
  int samples = 60;
  int passages = 70;  // of that point, at most
  How how = How::killed_there;
};

constexpr Control kControls[] = {
    {"Reopen", &RepairRules::reopen, "sifted.0", "claim.after_cas", false},
    // Only the last task of all: whoever finishes a later one moves the watermark on for the dead,
    // too.
    {"Advance", &RepairRules::advance, "sifted.0", "finish.after_done", false, 8, 4},
    {"Count", &RepairRules::count, "sifted.0", "claim.after_cas", true},
    {"Settle", &RepairRules::settle, "sifted.0", "finish.after_tally", false},
    {"Ring", &RepairRules::ring, "slow.0", "wake.before_doorbell", false, 4, 16},
    {"ReopenLate", &RepairRules::reopen, "sifted.0", "claim.after_cas", false, 60, 3,
     How::late_there},
    {"ReopenStill", &RepairRules::reopen, "sifted.0", "claim.after_cas", false, 60, 3,
     How::still_there},
    {"SettleLate", &RepairRules::settle, "sifted.0", "finish.after_tally", false, 60, 1,
     How::late_there},
    {"SettleStill", &RepairRules::settle, "sifted.0", "finish.after_tally", false, 60, 1,
     How::still_there},
};

class WithoutARule : public testing::TestWithParam<Control> {
 public:
  static Disturbance disturbance_of(const Control& control, int nth, const RepairRules& rules) {
    Disturbance disturbance;
    const bool from_outside = control.how != How::killed_there;
    const char* const action = !from_outside                    ? ":kill"
                               : control.how == How::late_there ? "+:delay"
                                                                : "+:stop";
    disturbance.faults = concat(control.worker, '=', control.point, ':', nth, action);
    disturbance.kills = from_outside ? kKillsPerRun : 0;
    disturbance.victim = from_outside ? control.worker : "";
    disturbance.rules = rules;
    disturbance.degrade = control.degrade;
    if (control.rule != nullptr && !(rules.*control.rule)) disturbance.hangs_after_s = 3;
    return disturbance;
  }

  static std::string run(const Control& control, int nth, int seed, const RepairRules& rules) {
    static const ShapeOfLine kLine = {"", R"(
  numbers: {producer: synthetic, params: {count: 60, shape: [3]}, limit: N, shuffle: true}
  slow: {transform: delay, from: numbers, params: {ms: 0.25}, chunk: 1}
  sifted: {transform: sift, from: slow, params: {every: 4, rest: 2}, chunk: 2, replicas: R}
  end: {consumer: record, from: {stage: sifted, batch: B}, params: {folder: "${RECORDS}"}}
)"};
    Total total;
    std::string yaml = shape_yaml(kLine, 2, 4);
    yaml.replace(yaml.find("limit: N"), 8, concat("limit: ", control.samples));
    const auto disturb = [&](const Plan&, std::uint64_t chance) {
      Disturbance disturbance = disturbance_of(control, nth, rules);
      disturbance.seed = chance;
      return disturbance;
    };
    return disturbed(yaml, static_cast<std::uint64_t>(seed), disturb, total);
  }
};

constexpr int kRuns = 300;

TEST_P(WithoutARule, SomeRunFails) {
  RepairRules rules;
  rules.*GetParam().rule = false;
  for (int i = 0; i < kRuns; ++i) {
    if (!run(GetParam(), i % GetParam().passages + 1, i, rules).empty()) return;
  }
  FAIL() << "nothing was noticed";
}

TEST_P(WithoutARule, WithItNoneDoes) {
  for (int i = 0; i < std::max(24, GetParam().passages / 3); ++i) {
    const int nth = 3 * i % GetParam().passages + 1;
    EXPECT_EQ(run(GetParam(), nth, i, {}), "") << nth;
  }
}

TEST(Chaos, NothingIsLostAtWhicheverPointAWorkerIsKilled) {
  for (std::size_t point = 0; point < kPointsOfWorkers; ++point) {
    const std::string name = point_name(point);
    for (const char* const worker : {"slow.0", "sifted.0"}) {
      const Control control{"", nullptr, worker, name.c_str(), false};
      EXPECT_EQ(WithoutARule::run(control, 8, static_cast<int>(point), {}), "") << name << worker;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Rules, WithoutARule, testing::ValuesIn(kControls),
                         [](const auto& control) { return std::string(control.param.name); });

}  // namespace
}  // namespace brigade::conformance
