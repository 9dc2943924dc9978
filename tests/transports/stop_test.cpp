#include "transports/stop.h"

#include <gtest/gtest.h>

#include "tests/support/line.h"
#include "transports/channel.h"

namespace brigade {
namespace {

/// Two source replicas with tasks of two samples, one reader with batches of four.
class StopOfALine : public testing::Test, protected support::LineControl {
 protected:
  StopOfALine() : LineControl(support::line_shape({{2, 2, 16, {}}, {1, 4, 0, {0}}})) {
    set_end(control, 0, 100, 100, 10);
  }

  std::uint64_t end() { return control.index_spaces[0]->end.value; }
};

TEST_F(StopOfALine, AnEndThatDoesNotFitIsNever) {
  set_end(control, 0, 100, 100, kNever / 50);
  EXPECT_EQ(end(), kNever);
}

TEST_F(StopOfALine, AnAbortIsNotTakenForAStart) {
  begin_running(control);
  EXPECT_EQ(control.phase->value.load(), static_cast<std::uint64_t>(Phase::running));
  abort_all(control);
  begin_running(control);
  EXPECT_EQ(control.phase->value.load(), static_cast<std::uint64_t>(Phase::aborting));
}

TEST_F(StopOfALine, NeverRaisesTheEnd) {
  set_end(control, 0, 4, 4, 1);
  ASSERT_EQ(Channel<SystemPolicy>(control, 0, 0, 0).try_claim().task, 0u);
  lower_end(control, 0, 64);
  EXPECT_EQ(end(), 4u);
}

/// A source of tasks of two, a stage that makes three slots of each sample, a reader of four.
TEST(EndAboveAFanOut, TheIndexSpaceBelowHasThreeTimesTheSamplesThePeriodAndTheEnd) {
  support::LineControl line(support::line_shape(
      {{1, 2, 8, {}, true}, {1, 2, 12, {0}, true, false, 3}, {1, 4, 0, {1}, true}}));
  set_end(line.control, 0, 10, 12, 5);
  ASSERT_EQ(line.shape.derived.size(), 1u);
  const IndexSpaceWords<SystemPolicy>& below = *line.control.index_spaces[1];
  EXPECT_EQ(below.epoch_samples.value, 30u);
  EXPECT_EQ(below.epoch_period.value, 36u);
  EXPECT_EQ(below.end.value, 180u);
}

}  // namespace
}  // namespace brigade
