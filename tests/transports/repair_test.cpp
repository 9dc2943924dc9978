#include "transports/repair.h"

#include <gtest/gtest.h>

#include "tests/support/line.h"
#include "transports/audit.h"
#include "transports/channel.h"
#include "transports/stop.h"

namespace brigade {
namespace {

/// Two writers, one reader, tasks of one sample, a ring of four.
class Repair : public testing::Test {
 protected:
  Repair() { set_end(control_, 0, 100, 100, 1); }

  TaskTable<SystemPolicy>& table() { return control_.stages[0].queues[0].table; }
  TaskState state(std::uint64_t task) { return table().read(table().word(task), task).state; }
  std::uint64_t level() { return control_.stages[0].queues[0].watermark->level.value; }
  std::uint32_t rings(int replica) { return control_.doorbells[replica].rings; }

  SharedShape shape_ = support::line_shape({{2, 1, 4, {}}, {1, 1, 0, {0}}});
  support::LineMemory memory_{control_bytes<SystemPolicy>(shape_)};
  Control<SystemPolicy> control_ = create_control<SystemPolicy>(memory_.data(), shape_);
  Channel<SystemPolicy> victim_{control_, 0, 0, 0};
  Channel<SystemPolicy> witness_{control_, 0, 0, 1};
};

TEST_F(Repair, ReopensWhatTheDeadHadClaimedAndNothingElse) {
  ASSERT_EQ(victim_.try_claim().task, 0u);
  ASSERT_EQ(witness_.try_claim().task, 1u);
  ASSERT_EQ(victim_.try_claim().task, 2u);
  EXPECT_EQ(repair(control_, 0, 0).reopened, 2u);
  EXPECT_EQ(state(0), TaskState::open);
  EXPECT_EQ(state(1), TaskState::claimed);
  EXPECT_EQ(state(2), TaskState::open);
}

TEST_F(Repair, WhoeverLooksNextFindsTheLowestReopenedTask) {
  ASSERT_EQ(victim_.try_claim().task, 0u);
  ASSERT_EQ(witness_.try_claim().task, 1u);  // its cursor has passed 0
  repair(control_, 0, 0);
  EXPECT_EQ(witness_.try_claim().task, 0u);
}

TEST_F(Repair, WithoutTheCountNobodyLooksBack) {
  ASSERT_EQ(victim_.try_claim().task, 0u);
  ASSERT_EQ(witness_.try_claim().task, 1u);
  RepairRules rules;
  rules.count = false;
  repair(control_, 0, 0, {}, rules);
  EXPECT_EQ(witness_.try_claim().task, 2u);
}

TEST_F(Repair, PublishesWhatWasDoneButNotYetAdvanced) {
  ASSERT_EQ(victim_.try_claim().task, 0u);
  table().word(0).store(table().done(0, 0));  // died between DONE and advance()
  EXPECT_EQ(level(), 0u);
  EXPECT_EQ(repair(control_, 0, 0).advanced_slots, 1u);
  EXPECT_EQ(level(), 1u);
  EXPECT_EQ(state(0), TaskState::done);
}

TEST_F(Repair, ClearsTheBitsOfTheDeadOnEveryWatermarkAndLeavesTheOthers) {
  for (auto& stage : control_.stages) {
    set_waiter(stage.queues[0].watermark->waiters, 0);
    set_waiter(stage.queues[0].watermark->waiters, 1);
  }
  repair(control_, 0, 0);
  for (auto& stage : control_.stages) EXPECT_EQ(stage.queues[0].watermark->waiters.bits[0], 2u);
}

TEST_F(Repair, RingsTheStageItsWritersAndItsReaders) {
  const std::uint32_t before[] = {rings(0), rings(1), rings(2)};
  repair(control_, 0, 0);
  for (int r = 0; r < 3; ++r) EXPECT_GT(rings(r), before[r]) << r;
}

TEST_F(Repair, QuarantinesBeforeATaskCanBeClaimedAgain) {
  ASSERT_EQ(victim_.try_claim().task, 0u);
  const std::uint64_t poisoned[] = {0};
  repair(control_, 0, 0, poisoned);
  EXPECT_TRUE(control_.stages[0].quarantine.contains(0));
  EXPECT_EQ(state(0), TaskState::open);
}

TEST_F(Repair, ForgetsTheInFlightSample) {
  control_.replicas[0].in_flight.value = 17;
  repair(control_, 0, 0);
  EXPECT_EQ(control_.replicas[0].in_flight.value, kNever);
}

TEST_F(Repair, OfAReplicaThatHeldNothingChangesNoTask) {
  ASSERT_EQ(witness_.try_claim().task, 0u);
  const RepairReport report = repair(control_, 0, 0);
  EXPECT_EQ(report.reopened, 0u);
  EXPECT_EQ(report.advanced_slots, 0u);
  EXPECT_EQ(state(0), TaskState::claimed);
}

TEST_F(Repair, TwiceIsTheSameAsOnce) {
  ASSERT_EQ(victim_.try_claim().task, 0u);
  repair(control_, 0, 0);
  EXPECT_EQ(repair(control_, 0, 0).reopened, 0u);
  EXPECT_EQ(state(0), TaskState::open);
}

/// A tally written for a task that was not committed does not count.
TEST_F(Repair, SettlesATallyWhoseTaskIsNotDone) {
  ASSERT_EQ(victim_.try_claim().task, 0u);
  victim_.finish(0, {0, 1, 0});
  ASSERT_EQ(victim_.try_claim().task, 1u);
  auto& tally = control_.stages[0].queues[0].tallies[0];
  tally.write(2, 1, {0, 2, 0});  // died before DONE
  EXPECT_EQ(queue_counts(control_, 0, 0).empty_slots, 1u);
  repair(control_, 0, 0);
  EXPECT_EQ(queue_counts(control_, 0, 0).empty_slots, 1u);

  Channel<SystemPolicy> restarted(control_, 0, 0, 0);
  ASSERT_EQ(restarted.try_claim().task, 1u);
  restarted.finish(1, {0, 1, 0});
  EXPECT_EQ(queue_counts(control_, 0, 0).empty_slots, 2u);
}

TEST_F(Repair, TheFirstTallyOfAllIsSettledToNothing) {
  ASSERT_EQ(victim_.try_claim().task, 0u);
  control_.stages[0].queues[0].tallies[0].write(1, 0, {0, 1, 0});
  repair(control_, 0, 0);
  EXPECT_TRUE(queue_counts(control_, 0, 0).none());
}

TEST_F(Repair, KeepsATallyWhoseTaskIsDone) {
  ASSERT_EQ(victim_.try_claim().task, 0u);
  victim_.finish(0, {0, 1, 0});
  ASSERT_EQ(victim_.try_claim().task, 1u);
  repair(control_, 0, 0);
  EXPECT_EQ(queue_counts(control_, 0, 0).empty_slots, 1u);
}

TEST(RepairInOrder, ContinuesAtTheWatermarkAndSettlesByIt) {
  const SharedShape shape = support::line_shape({{1, 2, 8, {}, true}, {1, 2, 0, {0}, true}});
  support::LineMemory memory(control_bytes<SystemPolicy>(shape));
  auto control = create_control<SystemPolicy>(memory.data(), shape);
  set_end(control, 0, 100, 100, 1);
  Channel<SystemPolicy> victim(control, 0, 0, 0);
  ASSERT_EQ(victim.try_claim().task, 0u);
  victim.finish(0, {0, 1, 0});
  ASSERT_EQ(victim.try_claim().task, 1u);
  control.stages[0].queues[0].tallies[0].write(2, 1, {0, 2, 0});
  EXPECT_EQ(queue_counts(control, 0, 0).empty_slots, 1u);
  const RepairReport report = repair(control, 0, 0);
  EXPECT_EQ(report.reopened, 0u);
  EXPECT_EQ(queue_counts(control, 0, 0).empty_slots, 1u);
  Channel<SystemPolicy> restarted(control, 0, 0, 0);
  EXPECT_EQ(restarted.try_claim().task, 1u);
}

// A dead stream may have stored its end and rung nobody but its neighbours.
TEST(RepairTest, RingsStagesFarAway) {
  const SharedShape shape = support::line_shape(
      {{1, 1, 4, {}}, {1, 1, 4, {0}}, {1, 1, 4, {1}}, {1, 1, 0, {2}}, {1, 1, 0, {0}}});
  support::LineMemory memory(control_bytes<SystemPolicy>(shape));
  auto control = create_control<SystemPolicy>(memory.data(), shape);
  repair(control, 1, 0);
  for (int r = 0; r < 5; ++r) EXPECT_EQ(control.doorbells[r].rings, 1u) << r;
  RepairRules silent;
  silent.ring = false;
  repair(control, 1, 0, {}, silent);
  for (int r = 0; r < 5; ++r) EXPECT_EQ(control.doorbells[r].rings, 1u) << r;
}

}  // namespace
}  // namespace brigade
