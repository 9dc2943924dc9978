#include "pipeline/run/supervisor/watchdog.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "pipeline/memory/shared_segments.h"
#include "pipeline/report/counters.h"
#include "tests/support/small_plan.h"

namespace brigade {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using Act = Watchdog::Finding::Act;

constexpr std::int64_t kSecondNs = 1'000'000'000;

// numbers (replica 0 of the graph) -> two sinks (1 and 2); stalls are 10 s.
struct WatchdogTest : testing::Test {
  Plan plan = small_plan(2);
  std::unique_ptr<SharedSegments> segments;
  Control<SystemPolicy>* control = nullptr;
  std::optional<Watchdog> watch;
  std::vector<ProcessCondition> conditions{3, ProcessCondition::runs};

  void start(bool abort = false) {
    for (PlanStage& stage : plan.stages) stage.stall = {10 * kSecondNs, abort};
    segments = SharedSegments::create(plan, {}).value();
    control = &segments->control();
    control->index_spaces[0]->end.value = 128;
    for (int r = 0; r < 3; ++r) stand(r, Waiting::input);
    watch.emplace(plan, *control);
  }
  void stand(int number, Waiting waiting, std::uint64_t at = kNever) {
    live_counters(*control, number).since_ns = 1;
    live_counters(*control, number).waiting = static_cast<std::uint64_t>(waiting);
    control->replicas[number].in_flight.value = at;
  }
  std::vector<Watchdog::Finding> look(std::int64_t seconds) {
    return watch->look(seconds * kSecondNs, [&](int number) { return conditions[number]; });
  }
  /// Looks every second; what was found by then.
  std::vector<Watchdog::Finding> until(std::int64_t seconds) {
    std::vector<Watchdog::Finding> all;
    for (; now_ <= seconds; ++now_) {
      for (auto& finding : look(now_)) all.push_back(std::move(finding));
    }
    return all;
  }
  std::int64_t now_ = 100;
};

TEST_F(WatchdogTest, ASampleThatTakesTooLongIsSaidOnce) {
  start();
  stand(1, Waiting::no, 7);
  EXPECT_TRUE(until(109).empty());
  const auto found = until(200);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].act, Act::say);
  EXPECT_EQ(found[0].number, 1);
  EXPECT_EQ(found[0].text,
            "has been at sample 7 for 10.0 s (`stall_timeout:`); the stage is stuck at sample 0");
}

TEST_F(WatchdogTest, AWatermarkThatAnotherOneHoldsIsNotThisOnesFault) {
  start();
  stand(1, Waiting::no, 200);  // small_plan's tasks have 64 samples
  EXPECT_THAT(until(200).at(0).text, HasSubstr("the stage is at sample 0, before this task"));
}

TEST_F(WatchdogTest, AnotherSampleIsProgress) {
  start();
  for (int second = 0; second < 50; ++second) {
    stand(1, Waiting::no, static_cast<std::uint64_t>(second / 9));
    EXPECT_TRUE(look(100 + second).empty());
  }
}

TEST_F(WatchdogTest, AnotherTaskIsProgressToo) {
  start();
  for (int second = 0; second < 50; ++second) {
    stand(1, Waiting::no);
    live_counters(*control, 1).since_ns = static_cast<std::uint64_t>(1 + second / 9);
    EXPECT_TRUE(look(100 + second).empty());
  }
}

TEST_F(WatchdogTest, OnlyWhereItIsAskedForTheProcessIsEnded) {
  start(true);
  stand(2, Waiting::no, 7);
  const auto found = until(300);
  ASSERT_EQ(found.size(), 3u);
  EXPECT_EQ(found[0].act, Act::say);
  EXPECT_EQ(found[1].act, Act::abort);
  EXPECT_THAT(found[1].text, HasSubstr("for 20.0 s (`stall_timeout:`); the stage is stuck at "
                                       "sample 0; aborted to print a backtrace"));
  EXPECT_EQ(found[2].act, Act::kill);
  EXPECT_THAT(found[2].text, HasSubstr("is stuck at sample 0; killed"));
}

TEST_F(WatchdogTest, AReplicaThatDoesNotGetReadyIsSaidOnceAndLeftAlone) {
  start(true);
  for (int r = 0; r < 3; ++r) watch->starts(r, 100 * kSecondNs);
  stand(2, Waiting::no, 7);  // by its predecessor
  watch->ready(0);
  watch->ready(1);
  EXPECT_TRUE(until(109).empty());
  const auto found = until(300);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].act, Act::say);
  EXPECT_EQ(found[0].number, 2);
  EXPECT_EQ(found[0].text,
            "has been opening for 10.0 s (`stall_timeout:`), and others "
            "wait for it");
  watch->ready(2);
  EXPECT_EQ(until(315).size(), 1u) << "from now on its calls are looked at";
}

TEST_F(WatchdogTest, AProgramThatNeverAsksForATaskIsToldWhatToCall) {
  start();
  plan.stages[1].type = "exec";
  plan.stages[1].exec = {"/bin/sleep", "1000"};
  watch->starts(1, 100 * kSecondNs);
  EXPECT_THAT(until(112).at(0).text,
              HasSubstr("has not asked for a task for 10.0 s (`stall_timeout:`), and others wait "
                        "for it: its program must call brigade_worker_attach(), load its data and "
                        "call brigade_worker_next()"));
  plan.stages[1].type = "python";
  watch->starts(1, 200 * kSecondNs);
  now_ = 200;
  EXPECT_THAT(until(212).at(0).text, HasSubstr("has been opening for 10.0 s"));
}

TEST_F(WatchdogTest, AStoppedProcessIsLeftAloneAndItsTimeDoesNotCount) {
  start(true);
  stand(1, Waiting::no, 7);
  conditions[1] = ProcessCondition::stopped;
  const auto found = until(200);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].act, Act::say);
  EXPECT_EQ(
      found[0].text,
      "is stopped (SIGSTOP); resume it with `kill -CONT`; no data is lost, the others wait for it");
  conditions[1] = ProcessCondition::runs;
  EXPECT_TRUE(until(209).empty());
  EXPECT_EQ(until(212).size(), 1u);
}

TEST_F(WatchdogTest, ADebuggerIsNoticed) {
  start(true);
  stand(1, Waiting::no, 7);
  conditions[1] = ProcessCondition::traced;
  const auto found = until(200);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_THAT(found[0].text, HasSubstr("is stopped by a debugger"));
}

TEST_F(WatchdogTest, WhoHasGoneIsNobodysAffair) {
  start(true);
  stand(1, Waiting::no, 7);
  conditions[1] = ProcessCondition::gone;
  EXPECT_TRUE(until(300).empty());
}

TEST_F(WatchdogTest, AGraphInWhichEverybodyWaitsIsNamed) {
  start();
  const auto found = until(300);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].number, -1);
  EXPECT_THAT(found[0].text, HasSubstr("no progress for 10.0 s: stage \"numbers\" is at 0 of 128"));
  EXPECT_THAT(found[0].text, HasSubstr("`brigade leases` shows the details"));
}

TEST_F(WatchdogTest, AWatermarkThatMovesIsEnough) {
  start();
  for (int second = 0; second < 50; ++second) {
    control->stages[0].queues[0].watermark->level.value = static_cast<std::uint64_t>(second / 9);
    EXPECT_TRUE(look(100 + second).empty());
  }
}

TEST_F(WatchdogTest, SomebodyAtWorkIsNoStandstill) {
  start();
  for (PlanStage& stage : plan.stages) stage.stall.after_ns = 10 * kSecondNs;
  stand(0, Waiting::no);
  for (int second = 0; second < 50; ++second) {
    live_counters(*control, 0).since_ns = static_cast<std::uint64_t>(1 + second);
    EXPECT_TRUE(look(100 + second).empty());
  }
}

TEST_F(WatchdogTest, LooksOftenEnoughForTheShortestTime) {
  start();
  EXPECT_EQ(watch->every_ns(), kSecondNs);
  plan.stages[0].stall.after_ns = kSecondNs;
  EXPECT_EQ(Watchdog(plan, *control).every_ns(), kSecondNs / 4);
  plan.stages[0].stall.after_ns = 1;
  EXPECT_EQ(Watchdog(plan, *control).every_ns(), 20'000'000);
}

}  // namespace
}  // namespace brigade
