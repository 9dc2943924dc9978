#include "pipeline/run/rows_before.h"

#include <gtest/gtest.h>

namespace brigade {
namespace {

RowStates rows(std::vector<RowState> states) {
  RowStates out;
  out.states = std::move(states);
  out.count();
  return out;
}

TEST(RowsBefore, OnlyFullRowsBelowThePositionAreLeftOut) {
  PlanLane lane;
  lane.resume_at = 103;
  RowStates states =
      rows({RowState::full, RowState::hole, RowState::full, RowState::full, RowState::pad});
  EXPECT_EQ(leave_out_before(lane, 100, states), 2u);
  EXPECT_EQ(states.full, 1u);
  EXPECT_EQ(states.holes, 3u);
  EXPECT_EQ(states.pads, 1u);
  EXPECT_TRUE(states.is_full(3));
}

TEST(RowsBefore, ATaskBehindThePositionStaysAsItIs) {
  PlanLane lane;
  lane.resume_at = 100;
  RowStates states = rows({RowState::full, RowState::full});
  EXPECT_EQ(leave_out_before(lane, 100, states), 0u);
  EXPECT_EQ(states.full, 2u);
}

TEST(RowsBefore, ATaskBeforeItIsLeftOutWhole) {
  PlanLane lane;
  lane.resume_at = 100;
  RowStates states = rows({RowState::full, RowState::full});
  EXPECT_EQ(leave_out_before(lane, 10, states), 2u);
  EXPECT_EQ(states.full, 0u);
}

}  // namespace
}  // namespace brigade
