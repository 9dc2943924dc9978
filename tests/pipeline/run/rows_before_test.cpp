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

/// Of a task in this epoch.
std::vector<RowHeader> headers(std::uint32_t epoch = 0) {
  return std::vector<RowHeader>(8, RowHeader{0, 0, 0, epoch, RowState::full, {}});
}

TEST(RowsBefore, OnlyFullRowsBelowThePositionAreLeftOut) {
  PlanLane lane;
  lane.resume_at = 103;
  RowStates states =
      rows({RowState::full, RowState::hole, RowState::full, RowState::full, RowState::pad});
  EXPECT_EQ(leave_out_before(lane, 100, headers().data(), states), 2u);
  EXPECT_EQ(states.full, 1u);
  EXPECT_EQ(states.holes, 3u);
  EXPECT_EQ(states.pads, 1u);
  EXPECT_TRUE(states.is_full(3));
}

TEST(RowsBefore, ATaskBehindThePositionStaysAsItIs) {
  PlanLane lane;
  lane.resume_at = 100;
  RowStates states = rows({RowState::full, RowState::full});
  EXPECT_EQ(leave_out_before(lane, 100, headers().data(), states), 0u);
  EXPECT_EQ(states.full, 2u);
}

TEST(RowsBefore, ATaskBeforeItIsLeftOutWhole) {
  PlanLane lane;
  lane.resume_at = 100;
  RowStates states = rows({RowState::full, RowState::full});
  EXPECT_EQ(leave_out_before(lane, 10, headers().data(), states), 2u);
  EXPECT_EQ(states.full, 0u);
}

TEST(RowsBefore, EarlierEpochsAreLeftOutWhateverTheirNumbers) {
  PlanLane lane;
  lane.resume_epoch = 2;
  for (const std::uint32_t epoch : {0u, 1u, 2u, 3u}) {
    RowStates states = rows({RowState::full, RowState::hole, RowState::full, RowState::pad});
    EXPECT_EQ(leave_out_before(lane, 100, headers(epoch).data(), states), epoch < 2 ? 2u : 0u);
    EXPECT_EQ(states.full, epoch < 2 ? 0u : 2u);
    EXPECT_EQ(states.pads, 1u);
  }
}

}  // namespace
}  // namespace brigade
