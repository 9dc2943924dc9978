#include "pipeline/process/stall_watch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "pipeline/process/segments.h"
#include "pipeline/stats/counters.h"
#include "tests/support/small_plan.h"

namespace brigade {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using Act = StallWatch::Finding::Act;

constexpr std::int64_t kSecond = 1'000'000'000;

// numbers (replica 0 of the graph) -> two sinks (1 and 2); stalls are 10 s.
struct StallWatchTest : testing::Test {
  Plan plan = small_plan(2);
  std::unique_ptr<Segments> segments;
  Control<SystemPolicy>* control = nullptr;
  std::optional<StallWatch> watch;
  std::vector<ProcessCondition> conditions{3, ProcessCondition::runs};

  void start(bool abort = false) {
    for (PlanStage& stage : plan.stages) stage.stall = {10 * kSecond, abort};
    segments = Segments::create(plan, "{}").value();
    control = &segments->control();
    control->domains[0]->end.value = 128;
    for (int r = 0; r < 3; ++r) stand(r, Waiting::input);
    watch.emplace(plan, *control);
  }
  void stand(int number, Waiting waiting, std::uint64_t at = kNever) {
    live_counters(*control, number).since_ns = 1;
    live_counters(*control, number).waiting = static_cast<std::uint64_t>(waiting);
    control->replicas[number].at.value = at;
  }
  std::vector<StallWatch::Finding> look(std::int64_t seconds) {
    return watch->look(seconds * kSecond,
                       [&](int number) { return conditions[static_cast<std::size_t>(number)]; });
  }
  /// Looks every second; what was found by then.
  std::vector<StallWatch::Finding> until(std::int64_t seconds) {
    std::vector<StallWatch::Finding> all;
    for (; now_ <= seconds; ++now_) {
      for (auto& finding : look(now_)) all.push_back(std::move(finding));
    }
    return all;
  }
  std::int64_t now_ = 100;
};

TEST_F(StallWatchTest, ASampleThatTakesTooLongIsSaidOnce) {
  start();
  stand(1, Waiting::no, 7);
  EXPECT_TRUE(until(109).empty());
  const auto found = until(200);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].act, Act::say);
  EXPECT_EQ(found[0].number, 1);
  EXPECT_EQ(
      found[0].text,
      "stage \"sink\" replica 0 has been at sample 7 for 10.0 s (`stall_timeout:`); its stage's "
      "mark is at 0 and does not move for it");
}

TEST_F(StallWatchTest, AMarkThatAnotherOneHoldsIsNotThisOnesFault) {
  start();
  stand(1, Waiting::no, 200);  // small_plan's tasks have 64 samples
  EXPECT_THAT(until(200).at(0).text, HasSubstr("its stage's mark is at 0, below this task"));
}

TEST_F(StallWatchTest, AnotherSampleIsProgress) {
  start();
  for (int second = 0; second < 50; ++second) {
    stand(1, Waiting::no, static_cast<std::uint64_t>(second / 9));
    EXPECT_TRUE(look(100 + second).empty());
  }
}

TEST_F(StallWatchTest, AnotherTaskIsProgressToo) {
  start();
  for (int second = 0; second < 50; ++second) {
    stand(1, Waiting::no);
    live_counters(*control, 1).since_ns = static_cast<std::uint64_t>(1 + second / 9);
    EXPECT_TRUE(look(100 + second).empty());
  }
}

TEST_F(StallWatchTest, OnlyWhereItIsAskedForTheProcessIsEnded) {
  start(true);
  stand(2, Waiting::no, 7);
  const auto found = until(300);
  ASSERT_EQ(found.size(), 3u);
  EXPECT_EQ(found[0].act, Act::say);
  EXPECT_EQ(found[1].act, Act::abort);
  EXPECT_THAT(found[1].text,
              HasSubstr("for 20.0 s (`stall_timeout:`); its stage's mark is at 0 and "
                        "does not move for it; aborted, for a backtrace"));
  EXPECT_EQ(found[2].act, Act::kill);
  EXPECT_THAT(found[2].text, HasSubstr("does not move for it; killed"));
}

TEST_F(StallWatchTest, AStoppedProcessIsLeftAloneAndItsTimeDoesNotCount) {
  start(true);
  stand(1, Waiting::no, 7);
  conditions[1] = ProcessCondition::stopped;
  const auto found = until(200);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].act, Act::say);
  EXPECT_EQ(found[0].text,
            "stage \"sink\" replica 0 is stopped (SIGSTOP); `kill -CONT` lets it go on; nothing is "
            "lost, the others wait for it");
  conditions[1] = ProcessCondition::runs;
  EXPECT_TRUE(until(209).empty());
  EXPECT_EQ(until(212).size(), 1u);
}

TEST_F(StallWatchTest, ADebuggerIsNoticed) {
  start(true);
  stand(1, Waiting::no, 7);
  conditions[1] = ProcessCondition::traced;
  const auto found = until(200);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_THAT(found[0].text, HasSubstr("is held by a debugger"));
}

TEST_F(StallWatchTest, WhoHasGoneIsNobodysAffair) {
  start(true);
  stand(1, Waiting::no, 7);
  conditions[1] = ProcessCondition::gone;
  EXPECT_TRUE(until(300).empty());
}

TEST_F(StallWatchTest, AGraphInWhichEverybodyWaitsIsNamed) {
  start();
  const auto found = until(300);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].number, -1);
  EXPECT_THAT(found[0].text,
              HasSubstr("nothing has moved for 10.0 s: stage \"numbers\" stands at 0 "
                        "of 128"));
  EXPECT_THAT(found[0].text, HasSubstr("`brigade holders` shows all of it"));
}

TEST_F(StallWatchTest, AMarkThatMovesIsEnough) {
  start();
  for (int second = 0; second < 50; ++second) {
    control->stages[0].lanes[0].mark->low.value = static_cast<std::uint64_t>(second / 9);
    EXPECT_TRUE(look(100 + second).empty());
  }
}

TEST_F(StallWatchTest, SomebodyAtWorkIsNoStandstill) {
  start();
  for (PlanStage& stage : plan.stages) stage.stall.after_ns = 10 * kSecond;
  stand(0, Waiting::no);
  for (int second = 0; second < 50; ++second) {
    live_counters(*control, 0).since_ns = static_cast<std::uint64_t>(1 + second);
    EXPECT_TRUE(look(100 + second).empty());
  }
}

TEST_F(StallWatchTest, LooksOftenEnoughForTheShortestTime) {
  start();
  EXPECT_EQ(watch->every_ns(), kSecond);
  plan.stages[0].stall.after_ns = kSecond;
  EXPECT_EQ(StallWatch(plan, *control).every_ns(), kSecond / 4);
  plan.stages[0].stall.after_ns = 1;
  EXPECT_EQ(StallWatch(plan, *control).every_ns(), 20'000'000);
}

}  // namespace
}  // namespace brigade
