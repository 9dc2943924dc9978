#include "transports/repair.h"

#include <gtest/gtest.h>

#include "tests/support/line.h"
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

TEST_F(Repair, PublishesWhatWasDoneButNotYetAdvanced) {
  ASSERT_EQ(victim_.try_claim().task, 0u);
  table().word(0).store(table().done(0, 0));  // died between DONE and advance()
  EXPECT_EQ(level(), 0u);
  EXPECT_EQ(repair(control_, 0, 0).advanced_slots, 1u);
  EXPECT_EQ(level(), 1u);
  EXPECT_EQ(state(0), TaskState::done);
}

TEST_F(Repair, ForgetsTheInFlightSample) {
  control_.replicas[0].in_flight.value = 17;
  repair(control_, 0, 0);
  EXPECT_EQ(control_.replicas[0].in_flight.value, kNever);
}

TEST_F(Repair, TwiceIsTheSameAsOnce) {
  ASSERT_EQ(victim_.try_claim().task, 0u);
  repair(control_, 0, 0);
  EXPECT_EQ(repair(control_, 0, 0).reopened, 0u);
  EXPECT_EQ(state(0), TaskState::open);
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
