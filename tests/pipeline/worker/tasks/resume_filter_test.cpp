#include "pipeline/worker/tasks/resume_filter.h"

#include <gtest/gtest.h>

namespace brigade {
namespace {

SlotStates slots(std::vector<SlotState> states) {
  SlotStates out;
  out.states = std::move(states);
  out.count();
  return out;
}

/// Of a task in this epoch.
std::vector<SlotHeader> headers(std::uint32_t epoch = 0) {
  return std::vector<SlotHeader>(8, SlotHeader{{0, 0, 0, epoch}, SlotState::full});
}

TEST(ResumeFilter, OnlyFullSlotsBelowThePositionAreDropped) {
  ResumeQueue queue;
  queue.at = 103;
  SlotStates states =
      slots({SlotState::full, SlotState::empty, SlotState::full, SlotState::full, SlotState::pad});
  EXPECT_EQ(filter_resumed(queue, 100, headers().data(), states), 2u);
  EXPECT_EQ(states.full, 1u);
  EXPECT_EQ(states.empty_slots, 3u);
  EXPECT_EQ(states.pads, 1u);
  EXPECT_TRUE(states.is_full(3));
}

TEST(ResumeFilter, ATaskBehindThePositionStaysAsItIs) {
  ResumeQueue queue;
  queue.at = 100;
  SlotStates states = slots({SlotState::full, SlotState::full});
  EXPECT_EQ(filter_resumed(queue, 100, headers().data(), states), 0u);
  EXPECT_EQ(states.full, 2u);
}

TEST(ResumeFilter, ATaskBeforeItIsDroppedWhole) {
  ResumeQueue queue;
  queue.at = 100;
  SlotStates states = slots({SlotState::full, SlotState::full});
  EXPECT_EQ(filter_resumed(queue, 10, headers().data(), states), 2u);
  EXPECT_EQ(states.full, 0u);
}

TEST(ResumeFilter, EarlierEpochsAreDroppedWhateverTheirNumbers) {
  ResumeQueue queue;
  queue.epoch = 2;
  for (const std::uint32_t epoch : {0u, 1u, 2u, 3u}) {
    SlotStates states = slots({SlotState::full, SlotState::empty, SlotState::full, SlotState::pad});
    EXPECT_EQ(filter_resumed(queue, 100, headers(epoch).data(), states), epoch < 2 ? 2u : 0u);
    EXPECT_EQ(states.full, epoch < 2 ? 0u : 2u);
    EXPECT_EQ(states.pads, 1u);
  }
}

}  // namespace
}  // namespace brigade
