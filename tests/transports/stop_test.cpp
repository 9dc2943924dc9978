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

  SharedShape shape_ = support::line_shape({{2, 2, 16, {}}, {1, 4, 0, {0}}});
  support::LineMemory memory_{control_bytes<SystemPolicy>(shape_)};
  Control<SystemPolicy> control_ = create_control<SystemPolicy>(memory_.data(), shape_);
  Channel<SystemPolicy> first_{control_, 0, 0, 0};
};

TEST_F(StopOfALine, AnEndThatDoesNotFitIsNever) {
  set_end(control_, 0, 100, 100, kNever / 50);
  EXPECT_EQ(end(), kNever);
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
