#include "transports/stop.h"

#include <gtest/gtest.h>

#include "tests/support/line.h"
#include "transports/channel.h"

namespace brigade {
namespace {

/// Two source replicas with tasks of two samples, one reader with batches of four.
class StopOfALine : public testing::Test {
 protected:
  StopOfALine() { set_end(control_, 0, 100, 100, 10); }

  std::uint64_t end() { return control_.index_spaces[0]->end.value; }
  bool acknowledged() {
    return all_acknowledged(control_, [](int) { return false; });
  }

  SharedShape shape_ = support::line_shape({{2, 2, 16, {}}, {1, 4, 0, {0}}});
  support::LineMemory memory_{control_bytes<SystemPolicy>(shape_)};
  Control<SystemPolicy> control_ = create_control<SystemPolicy>(memory_.data(), shape_);
  Channel<SystemPolicy> first_{control_, 0, 0, 0};
  Channel<SystemPolicy> second_{control_, 0, 0, 1};
  Channel<SystemPolicy> reader_{control_, 1, 0, 0};
};

TEST_F(StopOfALine, TheEndIsPeriodTimesEpochs) {
  EXPECT_EQ(end(), 1000u);
  EXPECT_EQ(control_.index_spaces[0]->epoch_samples.value, 100u);
  EXPECT_EQ(control_.index_spaces[0]->epoch_period.value, 100u);
}

TEST_F(StopOfALine, AnEndThatDoesNotFitIsNever) {
  set_end(control_, 0, 100, 100, kNever / 50);
  EXPECT_EQ(end(), kNever);
}

TEST_F(StopOfALine, SettingTheEndRingsEverybody) {
  const std::uint32_t before = control_.doorbells[2].rings;
  set_end(control_, 0, 1, 4, 1);
  for (int r = 0; r < 3; ++r) EXPECT_GT(control_.doorbells[r].rings, before) << r;
}

TEST_F(StopOfALine, ASourceAcknowledgesOnlyWhenItHoldsNothing) {
  ASSERT_EQ(first_.try_claim().task, 0u);
  ask_stop(control_);
  EXPECT_EQ(second_.try_claim().cause, Cause::stop);
  EXPECT_FALSE(acknowledged());
  first_.finish(0);
  EXPECT_FALSE(acknowledged());
  EXPECT_EQ(first_.try_claim().cause, Cause::stop);
  EXPECT_TRUE(acknowledged());
}

TEST_F(StopOfALine, WhoIsGoneNeedNotAcknowledge) {
  ask_stop(control_);
  EXPECT_EQ(second_.try_claim().look, Look::blocked);
  EXPECT_TRUE(all_acknowledged(control_, [](int replica) { return replica == 0; }));
  EXPECT_FALSE(all_acknowledged(control_, [](int replica) { return replica == 1; }));
}

TEST_F(StopOfALine, ReadersDoNotAcknowledge) {
  ask_stop(control_);
  EXPECT_EQ(reader_.try_claim().cause, Cause::input);
  EXPECT_EQ(control_.replicas[2].ack.value, 0u);
}

TEST_F(StopOfALine, TheEndGoesJustPastTheHighestClaimedTask) {
  ASSERT_EQ(first_.try_claim().task, 0u);
  ASSERT_EQ(second_.try_claim().task, 1u);
  ASSERT_EQ(second_.try_claim().task, 2u);
  ask_stop(control_);
  EXPECT_EQ(claimed_up_to(control_, 0), 6u);
  lower_end(control_, 0, 4);
  EXPECT_EQ(end(), 8u);
  EXPECT_EQ(control_.index_spaces[0]->stop.value, static_cast<std::uint64_t>(Stop::end_is_set));
}

TEST_F(StopOfALine, AReopenedTaskIsNotCountedAsClaimed) {
  ASSERT_EQ(first_.try_claim().task, 0u);
  ASSERT_EQ(second_.try_claim().task, 1u);
  repair(control_, 0, 1);
  EXPECT_EQ(claimed_up_to(control_, 0), 2u);
}

TEST_F(StopOfALine, SourcesGoOnUpToTheLoweredEnd) {
  ASSERT_EQ(first_.try_claim().task, 0u);
  first_.finish(0);
  ask_stop(control_);
  EXPECT_EQ(first_.try_claim().look, Look::blocked);
  EXPECT_EQ(second_.try_claim().look, Look::blocked);
  lower_end(control_, 0, 4);
  ASSERT_EQ(second_.try_claim().look, Look::claimed);  // task 1 fills the batch
  second_.finish(1);
  EXPECT_EQ(second_.try_claim().look, Look::ended);
  ASSERT_EQ(reader_.try_claim().look, Look::claimed);
  reader_.finish(0);
  EXPECT_EQ(reader_.try_claim().look, Look::ended);
}

TEST_F(StopOfALine, AnAbortIsNotTakenForAStart) {
  begin_running(control_);
  EXPECT_EQ(control_.phase->value.load(), static_cast<std::uint64_t>(Phase::running));
  abort_all(control_);
  begin_running(control_);
  EXPECT_EQ(control_.phase->value.load(), static_cast<std::uint64_t>(Phase::aborting));
}

TEST_F(StopOfALine, NeverRaisesTheEnd) {
  set_end(control_, 0, 4, 4, 1);
  ASSERT_EQ(first_.try_claim().task, 0u);
  lower_end(control_, 0, 64);
  EXPECT_EQ(end(), 4u);
}

TEST_F(StopOfALine, BeforeAnythingWasClaimedTheEndIsZero) {
  lower_end(control_, 0, 4);
  EXPECT_EQ(end(), 0u);
  EXPECT_EQ(first_.try_claim().look, Look::ended);
}

TEST(StopOfOneInOrder, TheEndGoesToItsWatermark) {
  const SharedShape shape = support::line_shape({{1, 2, 16, {}, true}, {1, 4, 0, {0}, true}});
  support::LineMemory memory(control_bytes<SystemPolicy>(shape));
  auto control = create_control<SystemPolicy>(memory.data(), shape);
  set_end(control, 0, 100, 100, 1);
  Channel<SystemPolicy> source(control, 0, 0, 0);
  for (std::uint64_t task = 0; task < 3; ++task) {
    ASSERT_EQ(source.try_claim().task, task);
    source.finish(task);
  }
  ask_stop(control);
  EXPECT_EQ(source.try_claim().look, Look::blocked);
  EXPECT_EQ(claimed_up_to(control, 0), 6u);
  lower_end(control, 0, 4);
  EXPECT_EQ(control.index_spaces[0]->end.value, 8u);
}

TEST(StopOfZippedSources, TheEndIsThatOfTheFurthest) {
  const SharedShape shape =
      support::line_shape({{1, 1, 8, {}, true}, {1, 1, 8, {}}, {1, 1, 0, {0, 1}, true}});
  support::LineMemory memory(control_bytes<SystemPolicy>(shape));
  auto control = create_control<SystemPolicy>(memory.data(), shape);
  set_end(control, 0, 100, 100, 1);
  Channel<SystemPolicy> behind(control, 0, 0, 0);
  Channel<SystemPolicy> ahead(control, 1, 0, 0);
  ASSERT_EQ(behind.try_claim().task, 0u);
  behind.finish(0);
  for (std::uint64_t task = 0; task < 5; ++task) ASSERT_EQ(ahead.try_claim().task, task);
  lower_end(control, 0, 1);
  EXPECT_EQ(control.index_spaces[0]->end.value, 5u);
}

/// A source of tasks of two, a stage that makes three slots of each sample, a reader of four.
class StopAboveAFanOut : public testing::Test {
 protected:
  StopAboveAFanOut() { set_end(control_, 0, 10, 12, 5); }
  IndexSpaceWords<SystemPolicy>& below() { return *control_.index_spaces[1]; }

  SharedShape shape_ = support::line_shape(
      {{1, 2, 8, {}, true}, {1, 2, 12, {0}, true, false, 3}, {1, 4, 0, {1}, true}});
  support::LineMemory memory_{control_bytes<SystemPolicy>(shape_)};
  Control<SystemPolicy> control_ = create_control<SystemPolicy>(memory_.data(), shape_);
};

TEST_F(StopAboveAFanOut, TheIndexSpaceBelowHasThreeTimesTheSamplesThePeriodAndTheEnd) {
  ASSERT_EQ(shape_.derived.size(), 1u);
  EXPECT_EQ(below().epoch_samples.value, 30u);
  EXPECT_EQ(below().epoch_period.value, 36u);
  EXPECT_EQ(below().end.value, 180u);
}

TEST_F(StopAboveAFanOut, AStopLowersItsEndToo) {
  Channel<SystemPolicy> source(control_, 0, 0, 0);
  source.finish(source.try_claim().task);
  source.finish(source.try_claim().task);
  ask_stop(control_);
  EXPECT_EQ(source.try_claim().cause, Cause::stop);
  lower_end(control_, 0, 4);
  lower_end(control_, 1, 12);  // as for every index space of a plan: it does nothing
  EXPECT_EQ(control_.index_spaces[0]->end.value, 4u);
  EXPECT_EQ(below().end.value, 12u);
  EXPECT_EQ(below().stop.value, static_cast<std::uint64_t>(Stop::end_is_set));
}

}  // namespace
}  // namespace brigade
